import pytest

from memora.memory.words import normalize, query_terms, terms


def found(query: str, sentence: str) -> set[str]:
    return set(query_terms(query)) & set(terms(sentence))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("我住在台北", "我住在台北。"),
        ("I live in Taipei", "i  live in Taipei!"),
        ("ＩＥＬＴＳ　７", "ielts 7"),
        ("Straße", "STRASSE"),
        ("Really?!", "really"),
        ("我喜歡貓！！ ", "我喜歡貓"),
    ],
)
def test_width_case_white_space_and_the_final_stop_do_not_make_another_sentence(one, other):
    assert normalize(one) == normalize(other)


def test_other_words_make_another_sentence():
    assert normalize("I live in Taipei") != normalize("I lived in Taipei")
    assert normalize("他說：「好」") != normalize("他說：「不好」")


def test_a_sentence_of_nothing_but_punctuation_keeps_it():
    assert normalize("……") != normalize("！")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("我在準備什麼考試？", "正在準備三月的 IELTS 考試"),
        ("我住在哪裡？", "使用者住在高雄"),
        ("台北好玩嗎", "小美住在台北"),
        ("貓", "家裡養了兩隻貓"),
        ("我的貓呢？", "家裡養了兩隻貓"),
        ("ひらがな", "ひらがなとカタカナ"),
    ],
)
def test_chinese_words_are_found_inside_sentences(query, sentence):
    assert found(query, sentence)


@pytest.mark.parametrize(
    "forms",
    [
        ("live", "lives", "lived", "living"),
        ("study", "studies", "studied", "studying"),
        ("stop", "stops", "stopped", "stopping"),
        ("travel", "travels", "travelled", "traveling"),
        ("watch", "watches", "watched", "watching"),
        ("box", "boxes"),
        ("class", "classes"),
        ("movie", "movies"),
        ("shoe", "shoes"),
        ("go", "goes", "going"),
        ("use", "used", "using", "uses"),
        ("teacher", "teachers", "teacher's", "Teacher’s"),
    ],
)
def test_inflections_of_a_regular_english_word_meet(forms):
    assert len({terms(form) for form in forms}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("king", "k"), ("need", "ne"), ("bus", "bu"), ("string", "str"), ("test", "text")]
)
def test_different_words_stay_apart(one, other):
    assert terms(one) != terms(other)


def test_function_words_ask_for_nothing():
    assert query_terms("What is my…?") == ()
    assert query_terms("什麼呢？") == ()
    assert query_terms("我的") == ()


def test_chinese_is_indexed_by_characters_and_pairs_and_asked_for_by_pairs():
    assert terms("準備考試") == ("準", "備", "考", "試", "準備", "備考", "考試")
    assert query_terms("準備考試") == ("準備", "備考", "考試")


def test_pairs_do_not_reach_over_what_stands_between():
    assert "備考" not in terms("準備 IELTS 考試")


def test_numbers_and_levels_are_words():
    assert found("B2", "English level is b2")
    assert found("7.5", "IELTS 的目標是 7.5 分")
    assert not found("7.5", "從 7 到 5")
    assert found("３月", "考試在 3 月")


def test_each_term_comes_once():
    assert terms("cats and cat and 貓貓貓") == ("cat", "and", "貓", "貓貓")


@pytest.mark.parametrize("text", ["", "  ", "!?…", "😀", "_", "\x00"])
def test_text_without_words_has_no_terms(text):
    assert terms(text) == ()
    assert query_terms(text) == ()
