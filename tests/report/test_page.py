"""A report in a real browser: what a reader does with it works, by mouse, by keyboard and on paper."""

import pytest

FIRST_ROW = "table.samples tbody tr[data-row] a"


def ids(page) -> list[str]:
    return page.eval_on_selector_all(FIRST_ROW, "found => found.map((each) => each.textContent)")


@pytest.mark.parametrize("fragment", ["", "#samples", "#sample=tc-49&metric=faithfulness"])
@pytest.mark.parametrize("name", ["telecom", "two"])
def test_every_view_opens_without_an_error_and_without_a_request(opened, files, name, fragment):
    page = opened.go(files[name], fragment)
    page.wait_for_selector(".picture, table.samples, .proof")

    assert opened.errors == []
    assert opened.left == []


def test_the_overview_shows_each_mean_with_its_interval_n_and_distribution(opened, files, telecom):
    page = opened.go(files["telecom"])
    mean = telecom.mean("faithfulness")

    row = page.locator(".means tbody tr", has_text="faithfulness").inner_text()
    assert f"{mean.value:.3f}" in row
    assert f"{mean.n} of {mean.total}" in row
    assert " to " in row
    told = page.eval_on_selector_all(
        ".means .picture",
        "all => all.filter((each) => each.querySelector('rect')).map((each) => each.ariaLabel)",
    )
    assert len(told) == len(telecom.metrics)
    assert all("mean" in each for each in told)


def test_the_overview_says_what_failed_why_how_far_it_moves_the_mean_and_leads_there(opened, files, troubled):
    page = opened.go(files["troubled"])
    text, mean = page.inner_text("main"), troubled.mean("faithfulness")

    assert "1 score of 5 failed" in text
    # "declines" does; of the one that failed and the one that was skipped nobody asked
    assert "Answers: 2 answered, 1 declined, 2 undecided." in text
    assert "401: the key is not valid" in text
    assert "1 sample without contexts" in text
    assert "1 row of the data is not a sample" in text
    assert f"{mean.worst:.3f} to {mean.best:.3f}" in text
    page.click("a.chip:has-text('incomplete')")
    page.wait_for_selector("table.samples")
    assert ids(page) == ["half"]


def test_samples_are_filtered_by_text_metric_and_range_and_label(opened, files, telecom):
    page = opened.go(files["telecom"], "#samples")
    page.fill("input[type=search]", "tmgi service id long")
    assert ids(page) == ["tc-49"]
    assert page.inner_text("#count") == "1 of 52 samples"

    page.fill("input[type=search]", "")
    page.select_option("select[name=metric]", label="faithfulness")
    page.fill("input[name=from]", "0.4")
    page.fill("input[name=to]", "0.7")
    expected = {r.sample_id for r in telecom.records("faithfulness") if r.value and 0.4 <= r.value <= 0.7}
    assert set(ids(page)) == expected
    assert len(expected) > 2

    page.click("text=Clear")
    page.click(".several[data-name=label] summary")
    page.check("input[name=label][value='kind: right']")
    expected = {each for each in telecom.sample_ids if telecom.sample(each).labels["kind"] == "right"}
    assert page.inner_text("#count") == f"{len(expected)} of 52 samples"
    assert set(ids(page)) <= expected


def test_a_click_on_a_column_sorts_by_it_a_second_one_turns_the_order_and_the_address_keeps_it(opened, files):
    page = opened.go(files["telecom"], "#samples")
    button = page.locator("th[data-sort=id] button")
    button.click()
    assert ids(page)[:3] == ["tc-01", "tc-02", "tc-03"]
    assert page.get_attribute("th[data-sort=id]", "aria-sort") == "ascending"

    button.click()
    assert ids(page)[0] == "tc-52"
    assert page.get_attribute("th[data-sort=id]", "aria-sort") == "descending"
    page.fill("input[type=search]", "bearer")
    before, fragment = ids(page), page.evaluate("location.hash")
    assert ids(opened.go(files["telecom"], fragment)) == before


def test_a_link_opens_a_sample_at_a_metric_or_says_that_there_is_none(opened, files):
    page = opened.go(files["telecom"], "#sample=tc-49&metric=faithfulness")
    page.wait_for_selector(".proof")
    text = page.inner_text("main")

    assert "1 / 2 = 0.5" in text
    assert "the number four is missing" in text
    assert page.get_attribute("[role=tab][aria-selected=true]", "id") == "tab-0"
    assert "does not have the sample" in opened.go(files["telecom"], "#sample=nobody").inner_text("main")


def test_statements_are_marked_in_the_answer_with_their_verdicts(opened, files):
    page = opened.go(files["telecom"], "#sample=tc-49&metric=faithfulness")
    page.wait_for_selector(".sources mark")
    marks = page.eval_on_selector_all(
        ".sources mark", "all => all.map((m) => [m.className.trim(), m.dataset.n])"
    )

    assert marks == [["yes", "1"], ["no", "2"]]
    # readable without colour: each mark is followed by its sign and number
    assert page.locator(".sources sup").all_inner_texts() == ["✓1", "✗2"]


@pytest.mark.parametrize("how", ["hover", "focus"])
def test_pointing_at_a_statement_highlights_its_evidence_in_the_chunk(opened, files, how):
    page = opened.go(files["telecom"], "#sample=tc-49&metric=faithfulness")
    page.wait_for_selector(".verdicts li")
    assert page.locator(".chunks mark.lit").count() == 0

    getattr(page.locator(".verdicts li").first, how)()

    lit = page.locator(".chunks mark.lit").all_inner_texts()
    assert lit
    assert lit[0].startswith("A TMGI is put together from")
    assert page.locator(".sources mark.lit").get_attribute("data-n") == "1"


def test_prompts_and_replies_are_folded_and_open_with_the_rule_that_read_them(opened, files, telecom):
    page = opened.go(files["telecom"], "#sample=tc-49&metric=faithfulness")
    page.wait_for_selector("details.step")
    assert page.locator("details.step pre").count() == 0

    page.locator("details.step summary").last.click()
    page.wait_for_selector("details.step pre")
    record = telecom.score("tc-49", "faithfulness")
    *_, step = record.generate_steps
    shown = page.locator("details.step").last.inner_text()
    assert step.reply in shown
    assert f"read as {step.rule}" in shown
    assert "Prompt, system" in shown


def test_the_keyboard_alone_leads_from_the_table_to_a_proof_and_back(opened, files):
    page = opened.go(files["telecom"])
    page.keyboard.press("/")
    page.wait_for_selector("input[type=search]:focus")
    page.keyboard.type("IMS")
    page.locator("th[data-sort=id] button").focus()
    page.keyboard.press("Enter")
    listed = ids(page)
    page.locator("tr[tabindex='0']").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".verdicts li")
    assert page.inner_text("h1.id").startswith(listed[1])

    page.keyboard.press("k")
    page.wait_for_function("id => document.querySelector('h1.id').textContent.startsWith(id)", arg=listed[0])
    page.keyboard.press("Escape")
    page.wait_for_selector("table.samples")
    assert ids(page) == listed
    assert page.locator("tr[tabindex='0'] a").inner_text() == listed[0]


def test_the_arrows_move_between_metrics_and_between_statements(opened, files):
    page = opened.go(files["telecom"], "#sample=tc-49&metric=faithfulness")
    page.locator("[role=tab][aria-selected=true]").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("[role=tab]:focus").inner_text().startswith("factual correctness")
    assert "metric=factual_correctness" in page.url

    page.locator(".verdicts li").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".verdicts li:focus").get_attribute("data-n") == "2"


def test_two_runs_show_paired_differences_and_what_moved_in_a_sample(opened, files):
    page = opened.go(files["two"])
    assert "50 samples in both runs; 2 only in the first" in page.inner_text(".lead")
    row = page.locator(".means tr", has_text="factual_correctness").first.inner_text()
    assert "✓ better" in row
    assert "50" in row

    page.click(".means a.chip:has-text('▲') >> nth=1")
    page.wait_for_selector("table.samples")
    first = ids(page)[0]
    page.click(FIRST_ROW)
    page.wait_for_selector(".pair .proof")
    assert page.inner_text("h1.id").startswith(first)
    assert page.locator(".pair > .proof").count() == 2


def test_a_sample_that_only_one_run_has_is_shown_beside_a_note(opened, files):
    page = opened.go(files["two"], "#sample=tc-01")
    page.wait_for_selector(".pair")

    assert "This run does not have the sample." in page.inner_text(".pair")
    assert page.locator(".pair > .proof").count() == 1


def test_it_prints_to_pages_with_all_rows_and_without_its_controls(opened, files):
    page = opened.go(files["telecom"], "#samples")
    page.emulate_media(media="print")
    printed = page.pdf()

    assert printed.startswith(b"%PDF")
    assert len(printed) > 20_000
    assert not page.is_visible("#top")
    assert not page.is_visible("form.filter")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("fragment", ["", "#samples", "#sample=tc-49&metric=faithfulness"])
def test_every_text_has_the_contrast_of_wcag_aa(opened, files, scheme, fragment):
    opened.page.emulate_media(color_scheme=scheme)
    page = opened.go(files["telecom"], fragment)
    page.wait_for_selector(".means, table.samples tr[data-row], .proof")
    assert page.evaluate(CONTRASTS) == []

    for statement in page.locator(".verdicts li").all():
        statement.focus()
        assert page.evaluate(CONTRASTS) == []


def test_the_colours_can_be_chosen_by_hand(opened, files):
    opened.page.emulate_media(color_scheme="light")
    page = opened.go(files["telecom"])
    bright = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    page.click("#theme")

    assert page.inner_text("#theme") == "Colours: dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != bright


@pytest.mark.parametrize("fragment", ["", "#samples", "#sample=tc-49&metric=faithfulness"])
def test_nothing_is_wider_than_a_narrow_screen(opened, files, fragment):
    opened.page.set_viewport_size({"width": 400, "height": 800})
    page = opened.go(files["telecom"], fragment)
    page.wait_for_selector(".means, table.samples tr[data-row], .proof")

    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_everything_that_can_be_operated_has_a_name(opened, files):
    for fragment in ("", "#samples", "#sample=tc-49"):
        page = opened.go(files["telecom"], fragment)
        page.wait_for_selector(".means, table.samples tr[data-row], .proof")
        unnamed = page.evaluate(
            """() => 
            [...document.querySelectorAll('a, button, input, select, img, [role=tablist], table[role]')]
            .filter((each) => !(each.textContent.trim() || each.alt || each.ariaLabel || each.labels?.length))
            .map((each) => each.outerHTML)"""
        )
        assert unnamed == []


# Each visible text against the nearest background that is painted behind it; 4.5 to 1, large text 3 to 1.
CONTRASTS = """() => {
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const parts = [0.2126, 0.7152, 0.0722];
  const light = (rgb) => parts.reduce((sum, part, at) => sum + part * linear(rgb[at] / 255), 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = numbers(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const poor = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode.parentElement, told = texts.currentNode.data.trim();
    if (!told || !node.offsetParent || node.closest('script, button:disabled')) continue;
    const style = getComputedStyle(node), size = parseFloat(style.fontSize);
    const [one, other] = [light(numbers(style.color)), light(behind(node))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const isLarge = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) poor.push([told.slice(0, 40), ratio.toFixed(2)]);
  }
  return poor;
}"""
