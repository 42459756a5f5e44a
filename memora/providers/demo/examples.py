"""Prepared example sentences: grammar topics and a few words, each with a short explanation."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memora.providers.demo.language import Language


@dataclass(frozen=True)
class Topic:
    """A grammar topic or a word. ``sentences`` are pairs: English, Chinese."""

    name: str
    names: str
    explanation_zh: str
    explanation_en: str
    sentences: tuple[tuple[str, str], ...]

    def is_named_in(self, text: str) -> bool:
        """Whether ``text`` speaks of this topic."""
        return re.search(self.names, text, re.IGNORECASE) is not None


TOPICS: tuple[Topic, ...] = (
    Topic(
        "present perfect continuous",
        r"present perfect (?:continuous|progressive)|現在完成進行式",
        "have/has been + V-ing，強調動作從過去一直持續到現在。",
        "have/has been + -ing: something that began in the past and is still going on.",
        (
            ("I have been waiting for the bus for twenty minutes.", "我已經等公車等了二十分鐘。"),
            ("She has been practising English since breakfast.", "她從早餐後就一直在練習英文。"),
        ),
    ),
    Topic(
        "present perfect",
        r"present perfect|現在完成[式時]",
        "have/has + 過去分詞，表示過去發生、但和現在有關的事。",
        "have/has + past participle: something in the past that matters now.",
        (
            ("I have lived in this city for five years.", "我在這座城市住了五年。"),
            ("She has already finished her homework.", "她已經寫完作業了。"),
            ("Have you ever eaten durian?", "你吃過榴槤嗎？"),
        ),
    ),
    Topic(
        "past perfect",
        r"past perfect|過去完成[式時]",
        "had + 過去分詞，表示在另一件過去的事之前就已經發生的事。",
        "had + past participle: what had happened before something else in the past.",
        (
            ("The train had left before we reached the station.", "我們到車站之前，火車就已經開走了。"),
            ("He had never seen snow until he moved to Japan.", "他搬到日本之前從沒看過雪。"),
        ),
    ),
    Topic(
        "past continuous",
        r"past (?:continuous|progressive)|過去進行[式時]",
        "was/were + V-ing，表示過去某個時間點正在進行的事。",
        "was/were + -ing: what was going on at a moment in the past.",
        (
            ("I was cooking when the phone rang.", "電話響的時候我正在煮飯。"),
            ("They were watching a film at nine last night.", "昨晚九點他們正在看電影。"),
        ),
    ),
    Topic(
        "past simple",
        r"past simple|simple past|過去簡單[式時]|簡單過去|過去式",
        "動詞用過去式，表示在過去已經結束的事。",
        "the past form of the verb: something that is over.",
        (
            ("We visited my grandparents last weekend.", "我們上週末去看了爺爺奶奶。"),
            ("He bought a new bicycle yesterday.", "他昨天買了一輛新腳踏車。"),
            ("Did you sleep well?", "你睡得好嗎？"),
        ),
    ),
    Topic(
        "present continuous",
        r"present (?:continuous|progressive)|現在進行[式時]",
        "am/is/are + V-ing，表示現在正在進行的事。",
        "am/is/are + -ing: what is going on now.",
        (
            ("She is talking to her teacher right now.", "她現在正在和老師說話。"),
            ("We are learning how to write essays this month.", "我們這個月在學怎麼寫作文。"),
        ),
    ),
    Topic(
        "present simple",
        r"present simple|simple present|現在簡單[式時]|簡單現在|現在式",
        "用動詞原形（第三人稱單數加 s），表示習慣或事實。",
        "the base form (with -s for he, she, it): habits and facts.",
        (
            ("He gets up at six every day.", "他每天六點起床。"),
            ("Water boils at one hundred degrees Celsius.", "水在攝氏一百度沸騰。"),
        ),
    ),
    Topic(
        "future",
        r"future (?:simple|tense)|simple future|\bgoing to\b|未來[式時]|未來簡單",
        "will + 原形動詞表示當下的決定或預測；be going to 表示已經有的打算。",
        "will + base form for decisions and predictions, be going to for plans.",
        (
            ("I will call you when I arrive.", "我到了會打電話給你。"),
            ("They are going to open a café next spring.", "他們明年春天打算開一家咖啡廳。"),
        ),
    ),
    Topic(
        "passive voice",
        r"passive|被動",
        "be 動詞 + 過去分詞，重點放在承受動作的人或物。",
        "be + past participle: the one that something is done to comes first.",
        (
            ("This bridge was built in 1935.", "這座橋建於 1935 年。"),
            ("English is spoken in many countries.", "許多國家都說英文。"),
        ),
    ),
    Topic(
        "conditionals",
        r"conditional|if[- ]clauses?|假設語氣|條件句",
        "第一類談可能發生的事，第二類談與現在事實相反的事，第三類談與過去事實相反的事。",
        "first: what may happen; second: what is not so now; third: what did not happen.",
        (
            ("If it rains tomorrow, we will stay at home.", "如果明天下雨，我們就待在家。"),
            ("If I had more time, I would read every evening.", "如果我時間多一點，我每天晚上都會看書。"),
            ("If she had studied harder, she would have passed.", "如果她當時更用功，她就及格了。"),
        ),
    ),
    Topic(
        "relative clauses",
        r"relative (?:clause|pronoun)s?|關係(?:子句|代名詞)|形容詞子句",
        "用 who、which、that、where 帶出子句，說明前面的名詞。",
        "who, which, that or where begin a clause that describes a noun.",
        (
            ("The woman who lives next door is a pilot.", "住在隔壁的那位女士是機師。"),
            ("This is the book that changed my life.", "這就是改變我一生的那本書。"),
        ),
    ),
    Topic(
        "modal verbs",
        r"\bmodals?\b|情態(?:助)?動詞|助動詞",
        "can、should、must 等助動詞後面接原形動詞，表示能力、建議或義務。",
        "can, should, must and the like + base form: ability, advice, duty.",
        (
            ("You should drink more water.", "你應該多喝水。"),
            ("We must not park here.", "我們不可以在這裡停車。"),
        ),
    ),
    Topic(
        "comparatives",
        r"comparative|superlative|比較級|最高級",
        "兩者相比用 -er 或 more，三者以上用 -est 或 most。",
        "-er or more for two, -est or most for three and above.",
        (
            ("My new room is bigger than the old one.", "我的新房間比舊的大。"),
            ("This is the most interesting class I take.", "這是我修過最有趣的課。"),
        ),
    ),
    Topic(
        "gerunds and infinitives",
        r"gerund|infinitive|動名詞|不定詞",
        "有些動詞後面接 V-ing（enjoy），有些接 to + 原形動詞（decide）。",
        "some verbs take -ing (enjoy), others to + base form (decide).",
        (
            ("I enjoy reading before bed.", "我喜歡睡前看書。"),
            ("She decided to change her job.", "她決定換工作。"),
        ),
    ),
    Topic(
        "reported speech",
        r"reported speech|indirect speech|間接(?:引述|敘述)|轉述",
        "轉述別人的話時，時態通常往過去退一格。",
        "when words are reported, the tense usually moves one step back.",
        (
            ("He said that he was tired.", "他說他累了。"),
            ("She told me that she had lost her keys.", "她告訴我她把鑰匙弄丟了。"),
        ),
    ),
    Topic(
        "although",
        r"\balthough\b",
        "although（雖然）連接兩個子句，後面不再接 but。",
        "although joins two clauses; no but follows.",
        (("Although it was late, we kept talking.", "雖然很晚了，我們還是繼續聊。"),),
    ),
    Topic(
        "however",
        r"\bhowever\b",
        "however（然而）是副詞，前後用句號或分號隔開。",
        "however is an adverb: a full stop or a semicolon comes before it.",
        (("The test was hard. However, most of us passed.", "考試很難，然而我們大多數都及格了。"),),
    ),
    Topic(
        "despite",
        r"\bdespite\b",
        "despite（儘管）後面接名詞或 V-ing。",
        "despite takes a noun or an -ing form.",
        (("Despite the rain, they went hiking.", "儘管下雨，他們還是去爬山了。"),),
    ),
    Topic(
        "since",
        r"\bsince\b",
        "since（自從）接時間點，常和現在完成式一起用。",
        "since takes a point in time, usually with the present perfect.",
        (("I have known her since 2015.", "我從 2015 年就認識她了。"),),
    ),
)

_ASKS = re.compile(
    r"例句|造句|造一?個?句|舉例|舉.{0,3}例子|範例|\bexamples?\b|sample sentences?|\bsentences? (?:with|using|in|for)\b",
    re.IGNORECASE,
)
_ASKS_ABOUT = re.compile(
    r"怎麼用|是什麼|什麼意思|什麼時候用|用法|解釋|說明|教我|"
    r"\bexplain\b|\bwhat(?:'s|’s| is| are)\b|\bhow (?:do|to|can|should)\b|\bwhen (?:do|should)\b|"
    r"\bteach\b",
    re.IGNORECASE,
)
_HOW_MANY = (
    (1, re.compile(r"一[個句]|\b(?:one|an?|1)\b(?= (?:\w+ ){0,2}(?:example|sentence))", re.IGNORECASE)),
    (3, re.compile(r"[三3] ?[個句]|\b(?:three|3)\b", re.IGNORECASE)),
)
USUAL_NUMBER = 2


def asks_for_examples(text: str) -> bool:
    """Whether example sentences are wanted."""
    return _ASKS.search(text) is not None


def find_topic(text: str) -> Topic | None:
    """The topic that ``text`` asks about; None when it asks nothing or nothing is prepared for it."""
    if not (_ASKS.search(text) or _ASKS_ABOUT.search(text)):
        return None
    return next((topic for topic in TOPICS if topic.is_named_in(text)), None)


def write_examples(topic: Topic, *, asked: str, language: Language) -> str:
    """The topic's sentences (as many as ``asked`` wants, as far as there are) with its explanation."""
    wanted = next((number for number, pattern in _HOW_MANY if pattern.search(asked)), USUAL_NUMBER)
    chosen = topic.sentences[:wanted]
    if language == "zh":
        lines = [f"- {english}（{chinese}）" for english, chinese in chosen]
        return "\n".join([f"{topic.name} 的例句：", "", *lines, "", topic.explanation_zh])
    lines = [f"- {english}" for english, _ in chosen]
    return "\n".join([f"{topic.name.capitalize()}:", "", *lines, "", f"How it works: {topic.explanation_en}"])
