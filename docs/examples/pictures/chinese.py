"""The pictures without a live figure, in Chinese words, for the Chinese edition."""

import re

WORDS = {
    "learning.svg": {
        "The loss of a network while it learns": "网络学习时的损失",
        "step": "更新次数",
        "loss": "损失",
    },
    "learning_both.svg": {
        "The loss of a network while it learns": "网络学习时的损失",
        "step": "更新次数",
        "loss": "损失",
        "with the wrong gradient": "用错误的梯度",
        "with the right gradient": "用正确的梯度",
    },
    "scale.svg": {
        "The errors of right and doubled gradients, absolute and relative": (
            "正确的梯度和放大一倍的梯度：绝对误差与相对误差"
        ),
        "right": "正确",
        "twice the right one": "正确梯度的两倍",
        "error |a − n|": "误差 |a − n|",
        "relative error": "相对误差",
        "slope 0": "斜率 0",
        "good": "good",
        "suspicious": "suspicious",
        "wrong": "wrong",
    },
    "report.svg": {
        "What the report says of the network": "报告对网络的结论",
        "data": "数据",
        "output": "输出",
        "right": "正确",
        "wrong": "错误",
        "ReLU open in a row": "在这一行，ReLU 开",
        "closed": "关",
    },
    "search.svg": {
        "Two searches from one start: each finds the valley of its function": (
            "从同一个步长开始的两次搜索：各自找到自己函数的谷底"
        ),
        "step h": "步长 h",
        "error bar / slope": "误差限 / 斜率",
        "resonance": "共振曲线",
        "the first step": "第一个步长",
    },
}
SAID = re.compile(r"(?<=>)([^<>]+)(?=</(?:text|title)>)")
WORD = re.compile("[a-z]{3}")


def name_of(name):
    """Return the name of the Chinese picture."""
    return name.replace(".svg", ".zh.svg")


def translated(name, picture):
    """Return the picture in Chinese; each text with a word in it must be known."""
    words = WORDS[name]
    return SAID.sub(lambda said: words[said[1]] if WORD.search(said[1]) else said[1], picture)
