// What the scripts say to a reader of the Chinese edition, which alone loads this: see words.js.

"use strict";

globalThis.translations = {
  // Examples that can be run, and exercises.
  Run: "运行",
  Stop: "停止",
  Edit: "修改",
  "Undo edits": "撤销修改",
  Output: "输出",
  Check: "检查",
  "Run the file": "运行文件",
  Download: "下载",
  "Download all": "全部下载",
  "Open files": "打开文件",
  "Start again": "重新开始",
  "Bring mine back": "恢复我的代码",
  "Restart Python": "重启 Python",
  "Skip to your file": "跳到你的文件",
  "What the checks say": "检查结果",
  "What your file prints": "你的文件打印的内容",
  "Your file, {exercise}.py.": "你的文件，{exercise}.py。",
  "Example, editable.": "示例，可以修改。",
  "Tab indents, Escape leaves, Control and Enter runs.": "Tab 缩进，Esc 离开，Ctrl + Enter 运行。",
  "Tab indents, Escape leaves, Control and Enter runs it.": "Tab 缩进，Esc 离开，Ctrl + Enter 运行。",
  "{button} loads Python and NumPy, about 10 MB, from {from}, once.":
    "第一次按“{button}”时会下载 Python 和 NumPy，约 10 MB，只下载一次（来源：{from}）。",
  "this site": "本站",
  "Loading Python ...": "正在载入 Python……",
  "Loading NumPy ...": "正在载入 NumPy……",
  "Checking ...": "正在检查……",
  "Running ...": "正在运行……",
  "Still running, {line} (Stop ends it)": "还在运行，{line}（按“停止”结束）",
  "Done.": "运行完毕。",
  "Done; nothing printed.": "运行完毕，没有打印任何内容。",
  "Stopped.": "已停止。",
  "Ended by {error}.": "因 {error} 而中止。",
  "{passed} of {total} checks passed.": "{total} 项检查通过了 {passed} 项。",
  "The last time, {told}": "上一次：{told}",
  "Taken in: {names}.": "已读入：{names}。",
  "Python is gone, with all that was changed in it. The next run starts it anew.":
    "Python 已经关闭，其中的改动也一并清除。下次运行时会重新启动。",
  "Python could not be started ({why}).": "Python 无法启动（{why}）。",
  "the browser does not say why": "浏览器没有说明原因",
  "Python could not be loaded ({why}). The page can be read without.":
    "Python 无法载入（{why}）。不运行代码，也可以阅读本页。",
  "Python was ended by what it ran ({why}). The next time it is started again.":
    "运行的代码使 Python 意外结束（{why}）。下次运行时会重新启动。",
  "Nothing is written in exercise {other} yet: this needs it.": "这里要用到练习 {other} 的代码，而你还没有写。",
  "{missing} could not be loaded, so this cannot run here.": "{missing} 无法载入，所以这里不能运行。",
  "A page that was opened as a file cannot run Python. Serve the folder, with python3 -m http.server, and open http://localhost:8000.":
    "以文件方式打开的页面不能运行 Python。请在这个文件夹里运行 python3 -m http.server，再打开 http://localhost:8000。",
  // Questions.
  "I do not know": "不知道",
  See: "看答案",
  "Ask me again": "再答一次",
  "✓ true": "✓ 正确答案",
  "your answer": "你的答案",
  true: "正确",
  yours: "你的",
  ", ": "，",
  "Your answer, in a few words": "用几个字写下你的答案",
  "You said so: {answer}.": "你答对了：{answer}。",
  "You said {answer}. True is {truth}.": "你的答案是 {answer}，正确答案是 {truth}。",
  // Slides.
  "{at} of {all}": "{at} / {all}",
  "Notes, {place}": "讲稿，{place}",
  "Show as slides": "放映",
  "Arrow keys turn the page, N opens the notes in a window of their own, Escape ends. Printed, each slide begins a page.":
    "用方向键翻页，按 N 在单独的窗口中打开讲稿，按 Esc 结束。打印时每张幻灯片另起一页。",
};
