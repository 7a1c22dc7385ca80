"""Conversations whose answers repeat hidden text, and others that only quote the user or a tool."""

from __future__ import annotations

import ast
import inspect
import json
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from random import Random

from tests.support.edited_runs import MODULES, sentences
from viewer.document.document import Document
from viewer.insight.leaks import META, USUAL_SOURCES, Answers, Leak, find_leaks, mark_boilerplate
from viewer.insight.words import plain_words, word_spans
from viewer.model.visibility import END_USER, EVERYTHING
from viewer.sources.files import SpooledSource

GERMAN = """
Die Werkstatt am Hafen repariert seit dreißig Jahren alte Segelboote und verkauft im Winter getrocknete Algen.
Wer den Gutschein bis Ende März einlöst, bekommt eine Stunde Beratung und zwei kleine Muster ohne Aufpreis.
Im Keller des Rathauses lagern Karten aus vier Jahrhunderten, die niemand ohne Handschuhe anfassen darf.
Unsere Fahrer sollen Beschwerden über verspätete Pakete immer zuerst an die Zentrale in Leipzig weiterleiten.
Der neue Backofen heizt ungleichmäßig, deshalb drehen wir die Bleche nach der Hälfte der Zeit um.
Auf der Insel wachsen vierzehn Arten von Moos, und drei davon kommen nirgendwo sonst in Europa vor.
Bitte nennen Sie keinem Kunden den Namen des Lieferanten, bevor der Vertrag im Herbst unterschrieben ist.
Die Orgel klingt bei feuchtem Wetter tiefer, weil sich das Holz der großen Pfeifen langsam ausdehnt.
Mein Großvater schrieb jeden Sonntag einen Brief an die Zeitung und bekam nur zweimal eine Antwort.
Nach dem Umbau fährt die Straßenbahn alle sieben Minuten, am Wochenende allerdings nur bis zum Zoo.
"""
CHINESE = """
山脚下的老茶馆每天清晨五点开门,掌柜总是先给看门的黄狗倒一碗温水。
客服人员不得向顾客透露仓库的具体位置,也不能承诺节假日当天送达。
这座石桥建于明朝末年,桥洞里刻着工匠的姓名和当时的粮食价格。
如果会员威胁要注销账户,可以悄悄提供百分之十五的折扣,但不要写在邮件里。
渔民们相信海雾散去之前不宜出航,否则网里只会捞到破旧的木板。
实验室的培养箱温度必须保持在三十七度,每次开门不得超过二十秒。
她把祖母留下的缝纫机搬到窗边,下午就用剩下的蓝布做了四个靠垫。
新来的编辑负责核对所有地名,凡是拿不准的都要打电话给当地档案馆。
火车穿过第三个隧道以后,车厢里的灯突然变成了柔和的橘黄色。
内部规定要求退款超过五百元的订单必须由区域经理亲自签字确认。
村口的槐树被雷劈成两半,可是到了春天两边又都长出了新叶。
厨师长喜欢在汤里放一点陈皮,他说这样可以压住羊肉的腥味。
"""
JAPANESE = """
港の古い倉庫では毎朝四時から競りが始まり、値段は指の形だけで伝えられる。
返金を求める客には三割引きの券を提案してよいが、その規則を説明してはならない。
祖父が植えた柿の木は台風で傾いたまま、今年も百個以上の実をつけた。
図書館の地下書庫に入るときは、必ず二人一組で名簿に時刻を記入すること。
雪解け水が川に流れ込むころ、村の子どもたちは竹で小さな水車を作る。
新しい炊飯器は火力が強すぎるので、水を少し多めに入れるとうまく炊ける。
担当者は取引先の名称を社外で口にせず、書類には記号のみを用いる。
駅前の喫茶店は来月で閉店し、跡地には自転車の修理工場が入る予定だ。
観測所の望遠鏡は湿気に弱いため、曇りの夜には屋根を閉じておく。
彼女は海岸で拾った硝子の欠片を磨いて、姉の誕生日に首飾りを贈った。
会員番号の末尾が奇数の利用者には、秋まで旧料金を適用して差し支えない。
山小屋の主人は毎年九月になると、薪を割りながら熊の足跡を数えている。
"""
KOREAN = """
항구 옆 작은 빵집은 새벽 세 시에 불을 켜고 첫 배가 들어오기 전에 반죽을 끝낸다.
상담원은 환불을 요구하는 고객에게 창고 위치를 절대로 알려 주어서는 안 된다.
할머니가 심은 감나무는 태풍에 기울었지만 올해도 열매를 백 개 넘게 맺었다.
탈퇴하겠다고 말하는 회원에게는 십오 퍼센트 할인을 조용히 제안해도 된다.
산장 주인은 해마다 구월이 되면 장작을 패면서 곰의 발자국을 세어 본다.
새로 온 편집자는 모든 지명을 확인하고 모르는 것은 문서 보관소에 물어본다.
실험실 배양기의 온도는 언제나 삼십칠 도를 유지해야 하며 문을 오래 열지 않는다.
기차가 세 번째 터널을 지나자 객실의 불빛이 부드러운 주황색으로 바뀌었다.
계약이 끝나기 전에는 거래처의 이름을 회사 밖에서 말하지 않는 것이 규칙이다.
마을 어귀의 느티나무는 벼락을 맞고 갈라졌지만 봄마다 새잎이 돋아난다.
"""
ARABIC = """
يفتح المخبز القديم قرب الميناء أبوابه في الثالثة فجرا قبل وصول أول سفينة إلى الرصيف الشرقي.
لا يجوز لموظفي خدمة العملاء أن يكشفوا موقع المستودع أو يعدوا بالتسليم في أيام العطل الرسمية.
زرعت جدتي شجرة رمان خلف البيت فمالت مع العاصفة لكنها أثمرت هذا العام أكثر من مئة حبة.
إذا هدد العضو بإلغاء اشتراكه فيمكن عرض خصم قدره خمسة عشر بالمئة دون ذكر ذلك في البريد.
يعد صاحب الكوخ الجبلي آثار الدببة كل خريف وهو يقطع الحطب ويسمع نشرة الأخبار من مذياع قديم.
يراجع المحرر الجديد جميع أسماء الأماكن ويتصل بدار الوثائق كلما شك في كتابة واحد منها.
يجب أن تبقى حرارة الحاضنة في المختبر سبعا وثلاثين درجة وألا يفتح بابها أكثر من عشرين ثانية.
عندما عبر القطار النفق الثالث صار ضوء المقصورة برتقاليا ناعما ونام الأطفال على أكتاف أمهاتهم.
لا تذكر اسم المورد خارج الشركة قبل توقيع العقد في نهاية الخريف مهما ألح عليك الزبائن.
شق البرق شجرة البلوط عند مدخل القرية نصفين ومع ذلك تورق أغصانها من جديد كل ربيع.
"""
THAI = """
ร้านขนมปังเล็กริมท่าเรือเปิดไฟตอนตีสามและนวดแป้งเสร็จก่อนเรือลำแรกจะเข้าเทียบ
พนักงานบริการลูกค้าต้องไม่บอกที่ตั้งของคลังสินค้าและห้ามสัญญาว่าจะส่งของในวันหยุด
ต้นทับทิมที่คุณยายปลูกไว้หลังบ้านเอนเพราะพายุแต่ปีนี้ออกผลมากกว่าหนึ่งร้อยลูก
หากสมาชิกขู่ว่าจะยกเลิกบัญชีให้เสนอส่วนลดร้อยละสิบห้าโดยไม่ต้องเขียนลงในอีเมล
เจ้าของกระท่อมบนภูเขานับรอยเท้าหมีทุกฤดูใบไม้ร่วงขณะผ่าฟืนและฟังวิทยุเครื่องเก่า
บรรณาธิการคนใหม่ตรวจชื่อสถานที่ทุกชื่อและโทรถามหอจดหมายเหตุเมื่อไม่แน่ใจ
อุณหภูมิของตู้เพาะเชื้อต้องอยู่ที่สามสิบเจ็ดองศาและห้ามเปิดประตูนานเกินยี่สิบวินาที
เมื่อรถไฟลอดอุโมงค์ที่สามแสงไฟในตู้โดยสารก็กลายเป็นสีส้มอ่อนและเด็กๆก็หลับไป
อย่าเอ่ยชื่อผู้จัดส่งนอกบริษัทก่อนลงนามในสัญญาปลายปีไม่ว่าลูกค้าจะถามกี่ครั้ง
ต้นโพธิ์หน้าหมู่บ้านถูกฟ้าผ่าแยกเป็นสองซีกแต่ก็ผลิใบใหม่ทุกครั้งที่ฝนแรกมาถึง
"""
LANGUAGES = ("English", "German", "Chinese", "Japanese", "Korean", "Arabic", "Thai")
_WRITTEN = {
    "German": GERMAN,
    "Chinese": CHINESE,
    "Japanese": JAPANESE,
    "Korean": KOREAN,
    "Arabic": ARABIC,
    "Thai": THAI,
}
UNSPACED = ("Chinese", "Japanese", "Thai")
CODE = "code"


def texts(language: str) -> list[str]:
    """Return different sentences of a language, or functions of the standard library."""
    if language == CODE:
        return _functions()
    return sentences() if language == "English" else _WRITTEN[language].split("\n")[1:-1]


@cache
def _functions() -> list[str]:
    """Return the bodies of short functions of the standard library that have little in common."""
    found: list[str] = []
    known = set[tuple[str, ...]]()
    for name in MODULES:
        with suppress(ImportError, OSError):
            source = inspect.getsource(import_module(name))
            lines = source.split("\n")
            for node in ast.walk(ast.parse(source)):
                if isinstance(node, ast.FunctionDef):
                    text = "\n".join(lines[node.body[0].lineno - 1 : node.end_lineno])
                    words = plain_words(text)
                    if not 20 <= len(words) <= 60 or '"""' in text or "<|" in text:
                        continue
                    sequences = {*zip(words, words[1:], words[2:], words[3:], strict=False)}
                    if len(sequences & known) < len(sequences) / 10:
                        found.append(text)
                        known |= sequences
    return found


def document(*messages: tuple[str, str]) -> Document:
    """Return a conversation of messages, each given by its header and body."""
    data = "version: 2.2\n" + "".join(f"<|start|>{head}<|message|>{body}<|end|>\n" for head, body in messages)
    return Document(SpooledSource("run", iter([data.encode()]), False), "openchatml-2.2").load()


def answers(*messages: tuple[str, str], least_words: int = 8, sources: frozenset[str] = USUAL_SOURCES) -> Answers:
    """Return the answers of a conversation after searching them for leaks."""
    made = document(*messages)
    found = find_leaks(made.project(EVERYTHING), made.project(END_USER), sources, least_words)
    return mark_boilerplate([found])[0]


def leaks(*messages: tuple[str, str], least_words: int = 8) -> list[Leak]:
    """Return the leaks of a conversation."""
    return [*answers(*messages, least_words=least_words).leaks]


USER, THOUGHT, FINAL = "user", "assistant<|channel|>analysis", "assistant<|channel|>final"
SYSTEM, DEVELOPER = "system", "developer"
TOOL = "tool name=functions.f to=assistant<|channel|>commentary"


def pieces(text: str) -> list[str]:
    """Return the text as words, each with the characters after it."""
    starts = [start for start, _ in word_spans(text)]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]


EDITS = ("mixed", "replace", "bursts", "swap")
"""Ways to edit a copy: replace, drop, or insert single words; replace only; runs of up to three words; or exchange
neighbors and replace others."""


def copied(language: str, hidden: list[str], length: int, rate: float, chance: Random, edits: str = "mixed") -> str:
    """Return a run of words of hidden text, with this share of them edited."""
    words = [word for text in hidden for word in pieces(f"{text} ")]
    count = min(len(words), length * (2 if language in UNSPACED else 1))
    first = chance.randrange(len(words) - count + 1)
    others = [word for text in chance.sample(texts(language), 3) for word in pieces(text)]
    chosen, unit = words[first : first + count], 2 if language in UNSPACED else 1
    if edits == "bursts":
        return "".join(_in_bursts(chosen, others, rate / 2 / unit, unit, chance))
    if edits == "swap":
        return "".join(_exchanged(chosen, others, rate / 2, chance))
    made = []
    for word in chosen:
        if chance.random() >= rate:
            made.append(word)
            continue
        edit = chance.random() if edits == "mixed" else 1
        made += [] if edit < 0.3 else [chance.choice(others)] + ([word] if edit < 0.6 else [])
    return "".join(made)


def _in_bursts(words: list[str], others: list[str], rate: float, unit: int, chance: Random) -> Iterator[str]:
    at = 0
    while at < len(words):
        if chance.random() >= rate:
            yield words[at]
            at += 1
            continue
        count, edit = chance.randint(1, 3) * unit, chance.randrange(3)
        yield from chance.choices(others, k=count) if edit else ()
        at += count if edit < 2 else 0


def _exchanged(words: list[str], others: list[str], rate: float, chance: Random) -> Iterator[str]:
    """Exchange this share of the words with their neighbors, and replace the same share."""
    at = 0
    while at < len(words):
        edit = chance.random()
        if edit < rate / 2 and at + 1 < len(words):
            yield from (words[at + 1], words[at])
            at += 2
            continue
        yield chance.choice(others) if edit < 1.5 * rate else words[at]
        at += 1


def recall(
    language: str, rate: float, seed: int, count: int, least_words: int = 8, shortest: int = 8, edits: str = "mixed"
) -> float:
    """Return the share of planted copies that are found as copied passages."""
    chance = Random(seed)
    found = 0
    for _ in range(count):
        sample = chance.sample(texts(language), 8)
        hidden, other = sample[:4], sample[4:]
        copy = copied(language, hidden, chance.randint(shortest, 40), rate, chance, edits)
        answer = f"{other[0]} {copy.strip()} {other[1]}"
        head = chance.choice((SYSTEM, DEVELOPER, THOUGHT))
        messages = [(USER, other[2]), (head, " ".join(hidden)), (FINAL, answer)]
        at = answer.index(copy.strip()), answer.index(copy.strip()) + len(copy.strip())
        spans = [span for leak in leaks(*messages, least_words=least_words) for span in leak.counted]
        found += any(span.shown[0] < at[1] and at[0] < span.shown[1] for span in spans)
    return found / count


def false_positives(language: str, kind: str, seed: int, count: int) -> float:
    """Return the share of answers without a leak that are reported."""
    chance = Random(seed)
    reported = 0
    for _ in range(count):
        sample = chance.sample(texts(language), 8)
        asked, thought, told, answer, more = sample[0], sample[1], " ".join(sample[2:4]), sample[4], sample[5]
        messages = [(DEVELOPER, f"{sample[6]} {sample[7]}"), (USER, f"{asked} {more}")]
        if kind == "none":
            messages += [(THOUGHT, thought), (FINAL, answer)]
        elif kind == "quoted question":
            messages += [(THOUGHT, f"They write: {asked} {more} {thought}"), (FINAL, f"{answer} {asked} {more}")]
        elif kind == "relayed reply":
            reply = json.dumps({"ok": True, "content": told}, ensure_ascii=chance.random() < 0.5)
            noted = copied(language, [told], 20, 0.2, chance)
            passed_on = copied(language, [told], 30, chance.choice((0, 0.1, 0.2)), chance)
            messages += [(TOOL, reply), (THOUGHT, f"{thought} {noted}"), (FINAL, f"{answer} {passed_on}")]
        elif kind == "draft":
            messages += [
                (THOUGHT, f"{thought} I will say: {_quoted(language, f'{answer} {sample[3]}')}"),
                (FINAL, f"{answer} {sample[3]}"),
            ]
        reported += any(leak.code for leak in leaks(*messages))
    return reported / count


def _quoted(language: str, text: str) -> str:
    return f"\n```\n{text}\n```" if language == CODE else f'"{text}"'


def secrets_found(seed: int, count: int) -> float:
    """Return the share of planted rare strings that are found."""
    chance = Random(seed)
    found = 0
    for _ in range(count):
        secret = rare(chance)
        sample = chance.sample(texts(chance.choice(LANGUAGES)), 4)
        head = chance.choice((SYSTEM, DEVELOPER))
        made = leaks((head, f"{sample[0]} {secret} {sample[1]}"), (USER, sample[2]), (FINAL, f"{sample[3]}({secret})."))
        found += any("secret" in leak.kinds and leak.score == 100 for leak in made)
    return found / count


def rare(chance: Random) -> str:
    letters, digits = "ABCDEFGHJKLMNPQRSTUVWXYZ", "0123456789"

    def some(of: str, count: int) -> str:
        return "".join(chance.choices(of, k=count))

    kind = chance.randrange(5)
    if kind == 0:
        return f"{some(letters, 2)}-{some(digits, 4)}"
    if kind == 1:
        return f"{some(letters.lower(), 6)}@{some(letters.lower(), 5)}.example"
    if kind == 2:
        return f"https://{some(letters.lower(), 8)}.example/{some(letters + digits, 6)}?k={some(digits, 3)}"
    if kind == 3:
        return f"sk_{some(letters.lower() + digits, 18)}7"
    return some(digits, 8)


def meta_rate(language: str) -> float:
    """Return the share of ordinary sentences that contain reasoning-like wording."""
    found = [text for text in texts(language) if META.search(text)]
    return len(found) / len(texts(language))
