"""PPO by self-play: what is learned from, how, and that a run can be interrupted, repeated and shared out."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
import torch

from mahjong_agents import GreedyAgent, make_agent
from mahjong_agents.control_variates import weights_of
from mahjong_agents.policy.agent import PolicyAgent
from mahjong_agents.policy.custom_features import find_features
from mahjong_agents.policy.inputs import ACTION_FACTS, TABLE_FACTS, action_inputs
from mahjong_agents.policy.network import ActionNetwork, prior, shapes
from mahjong_agents.policy.torch_network import arrays_of
from mahjong_env import VARIANTS, make_engine
from mahjong_training.evaluation.matches import sigma
from mahjong_training.learning import self_play
from mahjong_training.learning.ppo import Actor, Learner, advantages_and_returns, log_softmax
from mahjong_training.learning.rewards import find_reward
from mahjong_training.learning.self_play import Trajectories, play_hands
from support.marks import everyday, variants
from training.learning.test_run import CONFIG, EXAMPLES


def network(seed=0):
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(0, 0.1, shape).astype(np.float32) for name, shape in shapes(8).items()}
    return ActionNetwork(weights | {"prior": prior(claims=True)})


def hands(variant="hebei", by=None, others=(), **how):
    """Play with a network of random weights, or with that of a learner."""
    played_by = network() if by is None else ActionNetwork(by.weights())
    how = {"tables": 20, "share": 0.0, "seed": [1]} | how
    return play_hands(VARIANTS[variant], played_by, others, **how)


def new_learner(**settings):
    return Learner(replace(CONFIG, **settings), seats=3, unit=3.0)


def minibatches(learner, played, advantages, began):
    """The minibatches of an update, each with the log-probabilities of its actions by now."""
    for _, batch in chain(*learner._minibatches(played, advantages, torch.Generator().manual_seed(0), began)):
        yield batch, log_softmax(learner.actor.scores(batch.inputs), batch.inputs.row, len(batch.chosen))


class TestTrajectories:
    @pytest.mark.parametrize("variant", variants("hebei"))
    def test_rewards_of_a_trajectory_are_the_points_of_the_seat(self, variant):
        played = hands(variant)
        paid = np.bincount(played.trajectory, played.reward, minlength=played.points.size)
        decided = np.bincount(played.trajectory, minlength=played.points.size) > 0
        points = played.points.ravel()
        # Where nothing is paid before a seat first decides, all that it is paid follows a decision.
        assert (paid[decided] == points[decided]).mean() > 0.95
        assert (played.points.sum(axis=1) == 0).all()
        assert paid[decided].any()

    def test_trajectories_are_those_of_the_seats_that_decided(self, monkeypatch):
        asked, choose = [], self_play.choose_actions

        def noting(engine, games, *rest):
            asked.append(games * engine.num_people + engine.seat_to_act[games])
            return choose(engine, games, *rest)

        monkeypatch.setattr(self_play, "choose_actions", noting)
        np.testing.assert_array_equal(hands(tables=3).trajectory, np.concatenate(asked))

    def test_luck_is_taken_off_what_is_paid(self):
        plain, less = (
            hands("taiwan", tables=200, seed=[3], luck_weights=weights)
            for weights in (None, weights_of(VARIANTS["taiwan"]))
        )
        np.testing.assert_array_equal(plain.chosen, less.chosen)
        of_trajectory = [np.bincount(hands.trajectory, hands.reward, minlength=800) for hands in (plain, less)]
        assert of_trajectory[1].var() < 0.7 * of_trajectory[0].var()
        # What every seat is paid less is luck, which sums to zero over the seats of a hand; all but a few seats decide.
        taken = (of_trajectory[0] - of_trajectory[1]).reshape(200, 4)
        decided = (np.bincount(plain.trajectory, minlength=800) > 0).reshape(200, 4).all(axis=1)
        sums = np.abs(taken[decided].sum(axis=1))
        assert np.median(sums) < 0.5 * np.median(np.abs(taken[decided]).max(axis=1))

    @pytest.mark.parametrize("reward", everyday(["points?scale=2", "sigma"], ["points?scale=2"]))
    def test_rewards_of_ones_own_are_asked_what_points_are_worth(self, reward):
        scale = 2 if reward != "sigma" else 1 / sigma(VARIANTS["hebei"])
        plain = hands(others=[GreedyAgent()], share=0.5)
        other = hands(others=[GreedyAgent()], share=0.5, reward=find_reward(reward))
        np.testing.assert_allclose(other.reward, scale * plain.reward, rtol=1e-5)

    def test_places_are_paid_at_the_end_of_a_hand(self):
        played = hands(reward=find_reward("ranked"))
        last = np.append(np.diff(np.sort(played.trajectory)) > 0, True)[
            np.argsort(np.argsort(played.trajectory, kind="stable"))
        ]
        assert not played.reward[~last].any()
        more = (played.points[:, :, None] < played.points[:, None, :]).sum(axis=2)
        same = (played.points[:, :, None] == played.points[:, None, :]).sum(axis=2)
        place = 1 + more + (same - 1) / 2
        np.testing.assert_allclose(played.reward[last], (2 - place).ravel()[played.trajectory[last]])

    def test_potentials_are_discounted_as_rewards_are(self):
        class Shaped:
            def __call__(self, paid):
                return 0 * paid.points

            def potential(self, view):
                return view.left + 1

        played = hands(tables=6, reward=Shaped(), gamma=0.9)
        left = played.critic_inputs[:, list(TABLE_FACTS).index("left")] + 1.0
        for number in set(played.trajectory.tolist()):
            at = np.flatnonzero(played.trajectory == number)
            expected = 0.9 * np.append(left[at][1:], 0) - left[at]
            np.testing.assert_allclose(played.reward[at], expected, rtol=1e-5)

    def test_the_same_seed_is_the_same_hands(self):
        one, other = (hands(tables=8) for _ in range(2))
        for name in ("critic_inputs", "chosen", "log_probability", "reward"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        np.testing.assert_array_equal(one.inputs.per_action["facts"], other.inputs.per_action["facts"])
        different = hands(tables=8, seed=[2])
        assert len(different) != len(one) or (different.reward != one.reward).any()

    def test_others_have_all_seats_but_one_at_their_share_of_the_tables(self):
        played = hands(share=0.5, others=[GreedyAgent()])
        seats = played.learner.sum(axis=1)
        assert (seats == 1).sum() == 10
        assert (seats == 3).sum() == 10
        assert played.learner.ravel()[played.trajectory].all()

    def test_parts_keep_their_trajectories_apart(self):
        one, other = hands(tables=8), hands(tables=4)
        both = Trajectories.joined([one, other])
        assert len(both) == len(one) + len(other)
        np.testing.assert_array_equal(both.trajectory[len(one) :] - one.points.size, other.trajectory)
        assert both.points.ravel().shape[0] > both.trajectory.max()

    @pytest.mark.parametrize("variant", everyday(["hebei", "taiwan", "wuhan"], ["hebei"]))
    def test_parts_beside_each_other_are_what_each_is_alone(self, variant):
        rules, seeds, sizes = VARIANTS[variant], [(3, 1, part) for part in range(3)], (5, 30, 1)
        how = {"share": 0.5, "luck_weights": weights_of(rules), "match_hands": 1 + (variant == "taiwan")}
        others = [make_agent("greedy"), make_agent("random"), PolicyAgent.playing(network(), name="past", sample=True)]

        def play(size, seed, **more):
            return play_hands(rules, network(), others, tables=size, seed=seed, **how, **more)

        (size, seed), *rest = zip(sizes, seeds, strict=True)
        at_once = play(size, seed, beside=rest)
        alone = Trajectories.joined([play(*part) for part in ((size, seed), *rest)])
        np.testing.assert_equal(*(vars(hands) | {"inputs": vars(hands.inputs)} for hands in (at_once, alone)))

    def test_what_others_know_is_told_next_seat_first(self):
        played = hands(tables=1)
        at = np.flatnonzero(played.trajectory == 0)
        number = np.searchsorted(np.flatnonzero(played.trajectory == 1), at[-1]) - 1
        before = np.flatnonzero(played.trajectory == 1)[number]
        assert before < at[-1]
        distance = played.critic_inputs[before, :8].argmax()
        assert played.critic_inputs[at[-1], len(TABLE_FACTS) :].reshape(2, -1)[0, -1] == distance


class TestAdvantages:
    @pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.9), (0.9, 0.8), (0.5, 1.0)])
    def test_are_those_of_the_definition(self, gamma, gae_lambda):
        rng = np.random.default_rng(0)
        trajectory = rng.integers(0, 7, 60) * 3
        rewards, values = rng.normal(size=(2, 60)).astype(np.float32)
        found, returns = advantages_and_returns(trajectory, rewards, values, gamma, gae_lambda)
        for number in set(trajectory.tolist()):
            at = np.flatnonzero(trajectory == number)
            advantage = discounted = next_value = 0.0
            for decision in at[::-1]:
                delta = rewards[decision] + gamma * next_value - values[decision]
                advantage = delta + gamma * gae_lambda * advantage
                discounted = rewards[decision] + gamma * discounted
                next_value = values[decision]
                assert found[decision] == pytest.approx(advantage, rel=1e-4, abs=1e-5)
                assert returns[decision] == pytest.approx(discounted, rel=1e-4, abs=1e-5)


class TestLearner:
    def test_the_network_that_learns_is_the_one_that_plays(self):
        actor = Actor(8, claims=True, generator=torch.Generator().manual_seed(0))
        actor.out.data.normal_()
        played = ActionNetwork(arrays_of(actor))
        view = make_engine("taiwan", 20, seed=1).view()
        inputs = action_inputs(view)
        row = torch.from_numpy(inputs.row)
        with torch.no_grad():
            logits = actor.scores(inputs.map(torch.from_numpy))
        np.testing.assert_allclose(logits.numpy(), played.scores(inputs), rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(log_softmax(logits, row, 20).exp().sum(), 20, rtol=1e-4)

    def test_it_reads_added_inputs_at_their_scale(self):
        late = find_features(f"{EXAMPLES / 'my_features.py'}:Late")
        actor = Actor(8, claims=True, generator=torch.Generator().manual_seed(0), features=late)
        actor.out.data.normal_()
        played = ActionNetwork(arrays_of(actor), late)
        inputs = played.inputs(make_engine("hebei", 6, seed=3).view())
        assert inputs.per_decision["table"].shape == (6, len(TABLE_FACTS) + 3)
        scores = played.scores(inputs)
        np.testing.assert_allclose(
            scores, actor.scores(inputs.map(torch.from_numpy)).detach().numpy(), rtol=1e-3, atol=1e-3
        )
        inputs.per_decision["table"][:, -1] += 8  # by one, at a scale of 1/8
        weights = arrays_of(actor)
        of_table = weights["bias"] + weights["table"][-1]
        moved = ActionNetwork(weights | {"bias": of_table}, late)
        inputs_before = moved.inputs(make_engine("hebei", 6, seed=3).view())
        np.testing.assert_allclose(played.scores(inputs), moved.scores(inputs_before), rtol=1e-3, atol=1e-3)

    def test_the_clip_is_where_the_update_begins_whatever_played(self):
        """Hands that older weights played are learned from by how likely they are now."""
        learner = new_learner(ahead=True)
        played = hands(by=learner, seed=[4])
        np.testing.assert_allclose(learner._proximal(played), played.log_probability, rtol=1e-3, atol=1e-3)
        learner.update(played, number=0, progress=0)
        now = learner._proximal(played)
        assert np.abs(now - played.log_probability).max() > 0.01
        for batch, found in minibatches(learner, played, now, now):
            torch.testing.assert_close(found[batch.chosen], batch.proximal, rtol=1e-3, atol=1e-3)

    def test_what_was_better_than_expected_becomes_likelier(self):
        learner = new_learner()
        played = hands(by=learner, tables=64, seed=[4])
        # Chows are paid for, whatever becomes of them.
        column = list(ACTION_FACTS).index("chow")
        first = np.searchsorted(played.inputs.row, np.arange(len(played)))
        is_chow = played.inputs.per_action["facts"][first + played.chosen, column] == 1
        paid = replace(played, reward=np.where(is_chow, 3.0, 0.0).astype(np.float32))

        def chows():
            ones = np.ones(len(played), np.float32)
            batch, found = next(minibatches(learner, played, ones, played.log_probability))
            return found.exp()[batch.inputs.per_action["facts"][:, column] == 1].mean().item()

        before = chows()
        for number in range(5):
            learner.update(paid, number=number, progress=0)
        assert chows() > before + 0.01

    # A plain mean of the first updates, none of which is of what it began as; then those of long ago count ever less.
    @pytest.mark.parametrize(
        ("average", "counts"),
        [
            (0.5, (0.25, 0.25, 0.5)),
            pytest.param(0.9, (1 / 3, 1 / 3, 1 / 3), marks=pytest.mark.thorough),
            pytest.param(0.0, (0, 0, 1), marks=pytest.mark.thorough),
        ],
    )
    def test_the_average_follows_the_weights(self, average, counts):
        learner = new_learner(ema_decay=average)
        began, after = learner.weights(), []
        for number in range(4):
            played = hands(tables=2, seed=[number])
            learner.update(played, number=number, progress=0, critic_updates=1)
            after.append(learner.weights())
        assert all((began[name] == after[0][name]).all() for name in began)
        now, after = after[-1], after[1:]
        expected = {name: sum(count * one[name] for count, one in zip(counts, after, strict=True)) for name in now}
        for name, mean in learner.average_weights().items():
            np.testing.assert_allclose(mean, expected[name], rtol=1e-4, atol=1e-6)
        assert average == 0 or any((learner.average_weights()[name] != now[name]).any() for name in now)

    def test_gradients_of_microbatches_add_up_to_those_of_the_minibatch(self, monkeypatch):
        played = hands(by=new_learner(), tables=8, seed=[4])
        learned, entropies = [], []
        for size in (5, 10_000):
            monkeypatch.setattr("mahjong_training.learning.ppo._MICROBATCH_SIZE", size)
            learner = new_learner()
            entropies.append(learner.update(played, number=0, progress=0)["actor/entropy"])
            learned.append(learner.weights())
        assert entropies[0] == pytest.approx(entropies[1], rel=1e-4)
        for name, weights in learned[0].items():
            np.testing.assert_allclose(weights, learned[1][name], rtol=1e-2, atol=1e-3)

    def test_any_number_of_threads_learns_the_same(self, monkeypatch):
        played = hands(tables=4, seed=[4])
        monkeypatch.setattr("mahjong_training.learning.ppo._MICROBATCH_SIZE", 7)
        learned = []
        for threads in (1, 2, 4):
            learner = new_learner(threads=threads)
            metrics = learner.update(played, number=0, progress=0)
            learned.append((metrics, learner.weights(), arrays_of(learner.critic)))
        np.testing.assert_equal(learned[1:], learned[:1] * 2)

    def test_the_loss_is_that_of_the_definition(self):
        """The clipped objective, less the entropy, and the divergence from the reference, by their formulas."""
        learner = new_learner(ent_coef=0.1, kl_coef=0.3)
        played = hands(by=learner, tables=8, seed=[4])
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            for weights in learner.actor.parameters():
                weights += 0.2 * torch.randn(weights.shape, generator=generator)
        better = np.random.default_rng(0).normal(size=len(played)).astype(np.float32)
        as_it_began = played.log_probability + 0.1 * np.random.default_rng(1).normal(size=len(played)).astype(
            np.float32
        )
        batch, _ = next(minibatches(learner, played, better, as_it_began))
        loss, _ = learner._loss(batch)

        rows = batch.inputs.row.numpy()

        def log_probabilities(network):
            with torch.no_grad():
                scores = network.scores(batch.inputs).double().numpy()
            return np.concatenate([of_row - np.logaddexp.reduce(of_row) for of_row in by_row(scores)])

        def by_row(values):
            return np.split(values, np.flatnonzero(np.diff(rows)) + 1)

        now, then = log_probabilities(learner.actor), log_probabilities(learner.reference)
        ratio = np.exp(now[batch.chosen.numpy()] - batch.proximal.numpy())
        advantage = batch.advantage.numpy() * np.exp(batch.proximal.numpy() - batch.log_probability.numpy())
        gained = np.minimum(ratio * advantage, np.clip(ratio, 1 - CONFIG.clip_range, 1 + CONFIG.clip_range) * advantage)
        assert 0.1 < (gained != ratio * advantage).mean() < 0.9
        entropy = np.mean([-(np.exp(one) * one).sum() for one in by_row(now)])
        apart = np.mean([one.sum() for one in by_row(np.exp(now) * (now - then))])
        assert min(entropy, apart) > 0.02
        assert loss.item() == pytest.approx(-gained.mean() - 0.1 * entropy + 0.3 * apart, rel=1e-3)

    @pytest.mark.parametrize("critic_updates", [0, 1])
    def test_the_critic_learns_what_is_expected_of_the_rest_of_the_hand(self, critic_updates, monkeypatch):
        learner = new_learner()
        played, targets = hands(tables=16), []
        monkeypatch.setattr(learner, "_fit_critic", lambda seen, target, order: targets.append((seen, target)))
        value = learner._values(torch.from_numpy(played.critic_inputs))
        learner.update(played, number=0, progress=0, critic_updates=critic_updates)
        rewards = played.reward / np.float32(3)
        advantages, returns = advantages_and_returns(played.trajectory, rewards, value, 1.0, CONFIG.gae_lambda)
        ((seen, target),) = targets
        np.testing.assert_allclose(target, returns if critic_updates else advantages + value, rtol=1e-4, atol=1e-4)
        monkeypatch.undo()
        for _ in range(50):
            learner._fit_critic(seen, target, torch.randperm(len(seen), generator=torch.Generator().manual_seed(0)))
        assert ((learner._values(seen) - target.numpy()) ** 2).mean() < 0.8 * ((value - target.numpy()) ** 2).mean()

    def test_the_reference_is_what_is_measured(self):
        learner = new_learner()
        for number in range(2):
            learner.update(hands(tables=4), number=number, progress=0)
        before, average = arrays_of(learner.reference), learner.average_weights()
        learner.refresh_reference()
        for name, array in arrays_of(learner.reference).items():
            np.testing.assert_array_equal(array, average[name])
        assert any((before[name] != average[name]).any() for name in before)
