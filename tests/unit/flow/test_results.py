"""Several result files read together: names of systems, ids, groups, and what is refused."""

import gc
import json
from pathlib import Path

import pytest

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.flow.results import read_result_files


def write(path: str, rows: list[dict] | str) -> str:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
    Path(path).write_text(text, encoding="utf-8")
    return path


def answers(*ids: str, **more: object) -> list[dict]:
    return [{"id": one, "question": f"What is {one}?", "answer": f"It is {one}.", **more} for one in ids]


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_system_is_what_the_rows_say_else_what_was_given_else_the_files_name() -> None:
    write("a.jsonl", answers("1", system="own"))
    write("b.jsonl", answers("1"))
    write("c.csv", "id,f1\n1,0.5\n")

    found = read_result_files(["a.jsonl", "b.jsonl", "new=c.csv"])
    assert [source.systems for source in found.sources] == [("own",), ("b",), ("new",)]
    renamed = read_result_files(["theirs=a.jsonl", "b.jsonl"])
    assert [item.system for item in renamed.items] == ["b", "theirs"]


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    files = [write("old/run.jsonl", answers("1")), write("new/run.jsonl", answers("1"))]
    assert [source.systems for source in read_result_files(files).sources] == [("new/run",), ("old/run",)]
    same = [write("run.jsonl", answers("1")), write("run.csv", "id,f1\n1,1\n")]
    assert {source.systems for source in read_result_files(same).sources} == {("run.jsonl",), ("run.csv",)}
    other = [write("v.1", answers("1")), write("v.2", answers("1"))]
    assert [source.systems for source in read_result_files(other).sources] == [("v.1",), ("v.2",)]


def test_a_name_stands_for_one_system_and_a_file_has_one_name() -> None:
    write("two.jsonl", answers("1", system="x") + answers("1", system="y"))
    with pytest.raises(UsageError, match=r"two\.jsonl holds 2 systems \(x, y\), so 'z' names none"):
        read_result_files(["z=two.jsonl"])
    write("a.jsonl", answers("1"))
    with pytest.raises(UsageError, match=r"a\.jsonl is given two names, 'x' and 'y'"):
        read_result_files(["x=a.jsonl", "y=a.jsonl"])
    assert len(read_result_files(["a.jsonl", "x=a.jsonl", "./a.jsonl"]).items) == 1


def test_a_file_with_an_equals_sign_in_its_name_is_read_as_it_is() -> None:
    assert read_result_files([write("k=5.jsonl", answers("1"))]).items[0].system == "k=5"


@pytest.mark.parametrize("file", ["absent.jsonl", "."])
def test_what_is_no_file_is_refused_by_name(file: str) -> None:
    with pytest.raises(UnreadableInput, match="give a file with results"):
        read_result_files([file])


def test_a_file_that_may_not_be_read_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    write("a.jsonl", answers("1"))
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(UnreadableInput, match=r"a\.jsonl could not be read: Permission denied"):
        read_result_files(["a.jsonl"])


def test_rows_without_an_id_take_that_of_the_same_question_in_another_file() -> None:
    write("a.jsonl", answers("1", "2"))
    row = {"response": "r", "retrieved_contexts": [], "f": 1, "cost": 2, "cluster": "c"}
    rows = [{"user_input": f"What  is {n}?", **row} for n in (2, 3)]
    write("b.json", json.dumps(rows))
    found = read_result_files(["a.jsonl", "b.json"])

    assert [item.id for item in found.items if item.system == "b"] == ["2", "What  is 3?"]
    assert [one.item_id for one in found.judgements] == ["2", "What  is 3?"]
    assert sorted(found.costs) == [("b", "2"), ("b", "What  is 3?")]
    assert found.clusters == {"2": "c", "What  is 3?": "c"}
    assert found.notes == ("rows without an id were joined to an id of the same question: 1",)


def test_a_question_under_two_ids_names_neither() -> None:
    write("a.jsonl", [{"id": n, "question": "Same?", "answer": "x"} for n in ("1", "2")])
    write("b.jsonl", [{"question": "Same?", "answer": "x"}])
    found = read_result_files(["a.jsonl", "b.jsonl"])
    assert ([item.id for item in found.items], found.notes) == (["1", "2", "Same?"], ())


def test_two_files_with_the_same_answers_of_one_system_are_to_be_named_apart() -> None:
    files = [write("a.jsonl", answers("1", "2", model="m")), write("b.jsonl", answers("2", model="m"))]
    with pytest.raises(UsageError, match=r"both hold 'm', with 1 items in common.*system1=a\.jsonl system2=b\.jsonl"):
        read_result_files(files)
    assert {item.system for item in read_result_files(["x=a.jsonl", "b.jsonl"]).items} == {"x", "m"}


def test_answers_and_values_of_one_system_may_stand_in_two_files() -> None:
    judged = [{"item_id": "1", "system": "m", "rubric": "r", "value": 50, "outcome": "read", "judge": "v"}]
    found = read_result_files([write("a.jsonl", answers("1", system="m")), write("j.jsonl", judged)])
    assert (len(found.items), len(found.judgements)) == (1, 1)


def test_an_id_twice_keeps_both_answers_whatever_their_order() -> None:
    rows = [*answers("1"), {"id": "1", "question": "What is 1?", "answer": "Another."}, *answers("2")]
    found = read_result_files([write("a.jsonl", rows)])
    again = read_result_files([write("a.jsonl", rows[::-1])])

    assert (found.items, found.copies) == (again.items, again.copies)
    assert [item.answer for item in (*found.items, *found.copies)] == ["Another.", "It is 2.", "It is 1."]


def test_the_field_of_groups_must_be_there_and_an_item_belongs_to_one() -> None:
    files = [write("a.jsonl", answers("1", doc="x")), write("b.jsonl", answers("1", doc="x"))]
    assert read_result_files(files, cluster="doc").clusters == {"1": "x"}
    assert read_result_files(files).clusters == {}
    with pytest.raises(UsageError, match="no row has the field 'page'"):
        read_result_files(files, cluster="page")
    write("b.jsonl", answers("1", doc="y"))
    with pytest.raises(UsageError, match="1 items have two groups, as '1' has x, y"):
        read_result_files(files, cluster="doc")


def test_a_mapped_name_must_be_in_one_of_the_files() -> None:
    files = [write("a.jsonl", [{"id": "1", "question": "q", "text": "t"}]), write("b.jsonl", answers("1"))]
    found = read_result_files(files, mapping={"answer": "text"})
    assert [item.answer for item in found.items] == ["t", "It is 1."]
    with pytest.raises(UsageError, match=r"no row has 'body' \(answer\)"):
        read_result_files(files, mapping={"answer": "body"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"qid": "1", "frage": "Wer?"}\n', r"1 rows, but no question with its answer and no column of numbers"),
        ('{"qid": "1", "out": "Sie."}\n', r"beside an id\. Its fields are: qid, out\. Those under other names are "),
        ('{"id": "1", "question": "q", "answer": "a", "reference": ["r", "s"]}\n', r"none of 1 rows .* 2 references"),
        ('{"one": "She.", "two": "He."}', r"row 1: there is neither an id nor a question.*fields are: one, two\."),
        ("{}\n", "Its fields are: none"),
        (json.dumps({f"c{n}": "x" for n in range(30)}), r"c9, …\."),
    ],
)  # fmt: skip
def test_a_file_out_of_which_nothing_comes_says_why_and_what_its_fields_are(text: str, said: str) -> None:
    write("b.jsonl", answers("1"))
    with pytest.raises(UnreadableInput, match=rf"a\.jsonl: .*{said}"):
        read_result_files([write("a.jsonl", text), "b.jsonl"])


QRELS = "1 0 d1 1\n2 0 d2 2\n"


def test_runs_are_judged_by_all_qrels_and_called_by_their_tags() -> None:
    files = [write("a.run", "1 Q0 d1 1 2.0 bm25\n2 Q0 d1 1 2.0 bm25\n"), write("b.run", "1 Q0 d3 1 2.0 dense\n"),
             write("q.txt", QRELS), write("q2.txt", "1 0 d3 1\n")]  # fmt: skip
    found = read_result_files(files)

    assert [source.kind for source in found.sources] == ["TREC run", "TREC run", "TREC qrels", "TREC qrels"]
    ranks = {(one.system, one.item_id): one.value for one in found.judgements if one.rubric == "recall@10"}
    assert ranks == {("bm25", "1"): 0.5, ("bm25", "2"): 0.0, ("dense", "1"): 0.5}
    only = read_result_files(files, measures=["precision@2"])
    assert {one.rubric for one in only.judgements} == {"precision@2"}


def test_runs_of_one_tag_are_called_by_their_files() -> None:
    run = "1 Q0 d1 1 2.0 bm25\n"
    files = [write("a.run", run), write("b.run", run), write("q.txt", QRELS)]
    found = read_result_files(files)
    assert {one.system for one in found.judgements} == {"a", "b"}
    assert "so this one is called 'a'" in found.sources[0].notes[0]
    assert {one.system for one in read_result_files(["x=a.run", "q.txt"]).judgements} == {"x"}


def test_a_run_needs_qrels_and_qrels_a_run() -> None:
    run, qrels = write("a.run", "1 Q0 d1 1 2.0 bm25\n"), write("q.txt", QRELS)
    with pytest.raises(UsageError, match=r"a\.run is a TREC run; give the qrels"):
        read_result_files([run])
    with pytest.raises(UsageError, match="qrels, but no run"):
        read_result_files([qrels])


def test_the_order_of_the_files_does_not_matter() -> None:
    files = [write(f"{name}.jsonl", answers("1", "2", f1=1)) for name in "abc"]
    assert read_result_files(files) == read_result_files(files[::-1])
    assert len(read_result_files(files).sources[0].sha256) == 64


@pytest.mark.parametrize("enabled", [True, False])
def test_the_search_for_cycles_is_left_as_it_was(enabled: bool) -> None:
    file = write("a.jsonl", answers("1"))
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        read_result_files([file])
        assert gc.isenabled() is enabled
        with pytest.raises(UnreadableInput):
            read_result_files([file, "absent.jsonl"])
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
