import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora.memory.secrets import MASK, find_secrets, holds_secret, mask_secrets

SECRETS = [
    "我的 API key 是 sk-proj-abcDEF1234567890abcd",
    "My key is sk-" + "ant-api03-" + "Ab12Cd34Ef56",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "token: glpat-abcdefghij0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmN",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----",
    "我的密碼是 hunter2",
    "我的密碼是hunter",
    "密碼：abc!2024",
    "Wi-Fi 密碼 qwerty99",
    "我的密碼是「p@ssw0rd」",
    "驗證碼是 482913",
    "My password is dragon",
    "my Password: tr0ub4dor&3",
    "The user's PIN is 4821.",
    "PIN 碼 4821",
    "PIN碼是4821",
    "My CVV is 123",
    "The verification code is 482913",
    "My card is 4111 1111 1111 1111",
    "卡號 4111-1111-1111-1111",
    "5500000000000004",
    "3782 822463 10005",
    "４１１１ １１１１ １１１１ １１１１",
    "我的身分證字號是 A123456789",
    "a123456789",
    "身分證 A123456788",
    "居留證 A800000014",
    "AC01234567",
    "xapp-1-A0123456789-abcdefghij",
    "xoxb-123456789012-abcdefghijklmnop",
    "sk_live_" + "0123456789abcdefghijABCD",
    "My SSN is 123-45-6789",
    "my social security number is 123456789",
    "護照號碼是 312345678",
    "My passport number is X12345678",
    "我的銀行帳號是 012-345678901234",
    "密碼改成 hunter2",
    "密碼已經換成了 hunter",
    "my password's hunter2",
    "my password was changed to hunter2",
    "my api key is abcDEFghiJKLmno",
    "The secret key is zxcvbnmasdfghj",
    "GB82 WEST 1234 5698 7654 32",
    "My IBAN is DE89370400440532013000.",
    "de89370400440532013000",
    "my password is now hunter",
    "BE68 5390 0754 7034 is my account",
]
HARMLESS = [
    "我的電話是 0912-345-678",
    "我的手機是 0912345678，市話是 (02) 2345-6789",
    "call me at +886 912 345 678",
    "我的多益考了 850 分，目標是 2026-03-15 以前考到 900 分",
    "from 2024-01-02 to 2024-03-04",
    "我的密碼學這學期要考試",
    "我常常忘記密碼",
    "我的密碼是很難記的那種",
    "I always forget my password.",
    "My password is too weak.",
    "I work on password managers at 1Password.",
    "I counted 1200 tokens, the token limit is 4000.",
    "The secret is to practise every day.",
    "My key skills are reading and writing.",
    "I want to know what 'token' and 'API key' mean",
    "I have studied English for 3 years and read 12 books.",
    "我的學號是 B10901234",
    "訂單 1234567890123456",
    "ISBN 978-3-16-148410-0",
    "My IG account is @mei.chen",
    "我的 IG 帳號是 mei_chen_1999",
    "The sk-learn library is hard.",
    "A123456788",
    "AC01234568",
    "發票 AC-12345678",
    "訂單編號 20260315-000123",
    "4111 1111 1111 1112",
    "GB82 WEST 1234 5698 7654 33",
    "The password's length is 12.",
    "密碼改成比較長的",
    "The secret key is consistency, and the API key is required.",
    "I learned about API key authentication.",
    "",
]


@pytest.mark.parametrize("text", SECRETS)
def test_a_secret_is_found_and_masked(text):
    assert holds_secret(text)
    assert MASK in mask_secrets(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_secret_is_left_alone(text):
    assert mask_secrets(text) == text


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("My card is 4111 1111 1111 1111, and I like tea.", "My card is •••, and I like tea."),
        ("我叫小美，密碼是 hunter2。", "我叫小美,密碼是 •••"),
        ("My password is dragon", "My password is •••"),
    ],
)
def test_only_the_secret_itself_is_masked(text, masked):
    assert mask_secrets(text).startswith(masked)


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("我家 Wi-Fi 密碼是 dragon77", {"dragon77"}),
        ("My password is changed to hunter2", {"hunter2"}),
        ("My password is dragon99.", {"dragon99"}),
        ("My card is 4111 1111 1111 1111, PIN 4821", {"4111 1111 1111 1111", "4821"}),
        ("I like tea.", set()),
    ],
)
def test_the_secrets_themselves_can_be_had(text, secrets):
    assert find_secrets(text) == secrets


def test_a_secret_that_is_known_is_found_without_a_word_that_says_so():
    known = {"dragon77"}
    assert mask_secrets("使用者用 Dragon77 登入", known=known) == "使用者用 ••• 登入"
    assert not holds_secret("dragon778", known=known)


def test_masking_twice_changes_nothing_more():
    for text in SECRETS:
        assert mask_secrets(mask_secrets(text)) == mask_secrets(text)


# Checksums, each computed here in another way than in the module.


def digits(least: int, most: int):
    return st.text("0123456789", min_size=least, max_size=most)


def closed_by_luhn(start: str) -> str:
    """``start`` with the digit that makes it a card number: doubling from the right, in a table."""
    double = "0246813579"
    places = enumerate(reversed(start))
    return start + str(-sum(int(double[int(char)] if place % 2 == 0 else char) for place, char in places) % 10)


def closed_taiwan_id(start: str) -> str:
    """The start of an identity number with its last digit; the letters as Taiwan's offices number them."""
    place = ord(start[0]) - ord("A")
    letter = [1, 10, 19, 28, 37, 46, 55, 64, 39, 73, 82, 2, 11, 20, 48, 29, 38, 47, 56, 65, 74, 83, 21, 3, 12, 30]
    total = letter[place] + sum(int(char) * weight for char, weight in zip(start[1:], range(8, 0, -1), strict=True))
    return start + str(-total % 10)


def closed_iban(country: str, account: str) -> str:
    """An account with the two digits behind its country that make the remainder 1, digit by digit."""
    remainder = 0
    for char in f"{account}{country}00":
        for figure in str(int(char, 36)):
            remainder = (remainder * 10 + int(figure)) % 97
    return f"{country}{98 - remainder:02}{account}"


card_numbers = st.builds(lambda first, rest: closed_by_luhn(first + rest), st.sampled_from("23456"), digits(14, 14))
taiwan_ids = st.builds(
    lambda letter, kind, rest: closed_taiwan_id(letter + kind + rest),
    st.sampled_from("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    st.sampled_from("1289"),
    digits(7, 7),
)
ibans = st.builds(
    lambda country, bank, account: closed_iban(country, bank + account),
    st.sampled_from(["NL", "GB", "IE"]),
    st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ", min_size=4, max_size=4),
    digits(10, 12),
)
numbers = st.one_of(card_numbers, taiwan_ids, ibans)


@given(numbers)
def test_every_number_with_its_checksum_is_a_secret(number):
    assert mask_secrets(f"It is {number}, I think.") == f"It is {MASK}, I think."


@given(numbers, st.integers(1, 9))
def test_no_number_with_a_wrong_last_digit_is_a_secret(number, off):
    wrong = number[:-1] + str((int(number[-1]) + off) % 10)
    assert not holds_secret(f"It is {wrong}, I think.")
