// In the place of the server: a worker of this tab, in which Python answers (mahjong_env/play/tab.py).
Object.assign(words.en, {
  starting: "Python is starting in this tab. The first time, it fetches 16 MB.",
  inTab: "Everything happens in this tab. Closing it ends the match.",
  broken: "Python cannot be started in this tab:",
});
Object.assign(words.zh, {
  starting: "正在本页启动 Python；首次需下载 16 MB。", inTab: "一切都在本页内进行；关闭页面即结束本场。", broken: "无法在本页启动 Python：",
});

// What the worker runs; the page's content policy is the worker's as well, because it has no address of its own.
function worker(home) {
  const started = (async () => {
    importScripts(`${home}pyodide.js`);
    const python = await loadPyodide({ indexURL: home, packageBaseUrl: home });
    await python.loadPackage("numpy", { messageCallback: () => {} });
    const packed = await fetch(`${home}mahjong_env.zip`);
    if (!packed.ok) throw new Error(`${packed.url}: ${packed.status}`);
    python.unpackArchive(await packed.arrayBuffer(), "zip");
    const { answer } = python.pyimport("mahjong_env.play.tab");
    postMessage({ number: 0, answer: "" });
    return answer;
  })();
  onmessage = async ({ data: { number, asked } }) => {
    try { postMessage({ number, answer: (await started)(...asked) }); } catch (error) { postMessage({ number, error: String(error) }); }
  };
}

const home = new URL("python/", location.href).href;
const python = new Worker(URL.createObjectURL(new Blob([`(${worker})(${JSON.stringify(home)})`], { type: "text/javascript" })));
const waiting = []; // for answers, by the number of the request
const about = make("p", { role: "status", class: "faint", "data-say": "starting" });
$("lobby").before(about);

python.onmessage = ({ data: { number, answer, error } }) => {
  if (!number) { // it has started
    about.textContent = say()[about.dataset.say = "inTab"];
    $("keys").after(about);
  } else waiting[number](answer ?? JSON.stringify([500, { error: `${say().broken} ${error}` }]));
};

// The match that is being played, for when the tab is reloaded: its name and its record so far.
const KEPT = "mahjong_env_match";
let kept = null;
try { kept = JSON.parse(sessionStorage.getItem(KEPT)); } catch { /* the browser keeps nothing */ }

function keep(match, record) {
  try { sessionStorage.setItem(KEPT, JSON.stringify(record ? { match, record } : null)); } catch { /* as above */ }
}

async function inTab(path, { method = "GET", body = "{}" } = {}) {
  const number = waiting.length || 1;
  const answered = new Promise((done) => { waiting[number] = done; });
  const isLost = kept && path === `games/${kept.match}`;
  python.postMessage({ number, asked: isLost ? ["POST", "kept", kept.record] : [method, path, body] });
  kept = null;
  const [status, told, record] = JSON.parse(await answered);
  if (record !== undefined) keep(told.game ?? path.split("/")[1], record);
  return Response.json(told, { status });
}
window.fetch = inTab;

document.addEventListener("click", async (event) => { // the record is a file that no server sends
  const link = event.target.closest("a#save");
  if (!link || link.href.startsWith("blob:")) return;
  event.preventDefault();
  link.href = URL.createObjectURL(new Blob([await (await inTab(link.getAttribute("href"))).json()]));
  link.click();
});
