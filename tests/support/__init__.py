"""What tests share: runners of written cases, the duel with the referee, broken twins, strategies."""
