#!/usr/bin/env python3
"""Opens reports in headless Chromium, uses every tab, and fails when a script complains. Needs `chromium`; not in CI.

usage: browser_check.py WHERRY [MODEL...]

Without models: a small one, one with hostile names, one of 2,000 nodes. With KEEP=DIR pictures are left there.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import small_model

# Every tab, an operator on both sides, the search, all colours; a name that became markup would have called alert().
USE = """
<script>
window.alert = (text) => console.error('alert ' + text);
addEventListener('load', () => {
  for (const tab of tabs) showTab(tab.id);
  for (const row of document.querySelectorAll('tr.row')) row.click();
  for (const side of ['before', 'after']) data[side].forEach((block, b) => {
    const ops = block.ops;
    for (const op of [ops[0], ops[ops.length >> 1], ops[ops.length - 1]]) if (op) showInGraph(side, b, firstResult(op));
  });
  const search = document.getElementById('graph-search');
  search.value = 'a';
  search.dispatchEvent(new Event('input'));
  search.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
  const colour = document.getElementById('graph-colour');
  for (const value of ['change', 'cost', 'category']) { colour.value = value; colour.dispatchEvent(new Event('change')); }
  showTab('memory');
  const block = document.querySelector('#memory select');
  if (block) for (const {value} of [...block.options].reverse()) { const now = document.querySelector('#memory select'); now.value = value; now.dispatchEvent(new Event('change')); }
  for (const key of ['f', '+', '-', 'ArrowDown']) dispatchEvent(new KeyboardEvent('keydown', {key}));
  setTheme(true);
  showTab('SHOWN');
  const images = document.querySelectorAll('img, script[src], link, iframe').length;
  if (images) console.error('the page has ' + images + ' elements that it did not make');
});
</script>
"""


def check(page: pathlib.Path, tab: str, picture: pathlib.Path, size: str) -> list[str]:
    """What the browser's console says."""
    text = page.read_text(encoding="utf-8")
    end = text.rindex("</body>")
    used = page.with_name("used_" + page.name)
    used.write_text(text[:end] + USE.replace("SHOWN", tab) + text[end:], encoding="utf-8")
    ran = subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=8000",
         f"--window-size={size}", f"--screenshot={picture}", f"file://{used}"],
        capture_output=True, text=True, errors="replace", timeout=120, check=False)  # fmt: skip
    assert picture.exists(), ran.stderr
    return [line for line in ran.stderr.splitlines() if "CONSOLE" in line]


def main() -> int:
    if shutil.which("chromium") is None:
        print("there is no chromium: nothing was checked")
        return 0
    wherry = pathlib.Path(sys.argv[1]).resolve()
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(os.environ.get("KEEP", temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        models = [pathlib.Path(name).resolve() for name in sys.argv[2:]]
        if not models:
            hostile = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "__proto__", "constructor", "\u202e&amp;"]
            for name, names, skip in (("small", ["x", "m", "n", "y"], 0), ("hostile", hostile, 0),
                                      ("large", [f"value{i}" for i in range(2001)], 60)):  # fmt: skip
                models.append(folder / f"{name}.onnx")
                models[-1].write_bytes(small_model.chain(names, skip))
        for number, model in enumerate(models):
            page = folder / f"{number}_{model.stem}.html"
            subprocess.run([wherry, "opt", model, "--measure", "--report", page], check=True, stdout=subprocess.DEVNULL)
            for tab in ("overview", "graph", "passes", "operators", "memory"):
                for size in ("1400,950", "500,900"):
                    said = check(page, tab, page.with_name(f"{page.stem}_{tab}_{size.split(',')[0]}.png"), size)
                    failures += len(said)
                    print(f"{model.name} {tab} {size}: {'ok' if not said else said}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
