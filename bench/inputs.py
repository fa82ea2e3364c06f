# SPDX-License-Identifier: MIT
"""What the real programs work on: generated, the same each time, and kept under the build folder.

A generator is called with a scale and returns the lines of one file.
"""
import random

LETTERS = "etaoinshrdlucmfwypvbgkqjxz"


def words(scale):
    rng = random.Random(1)
    known = ["".join(rng.choice(LETTERS) for _ in range(rng.randint(2, 14))) for _ in range(20000)]
    for _ in range(max(1, int(25000 * scale))):
        # Few words are common, most are rare.
        yield " ".join(known[int(20000 * rng.random() ** 3)] for _ in range(12))


def json_records(scale):
    rng = random.Random(2)
    yield "["
    for i in range(max(1, int(50000 * scale))):
        tags = ", ".join('"tag%d"' % rng.randint(1, 500) for _ in range(rng.randint(1, 6)))
        yield ('{"id": %d, "name": "record %d", "price": %.2f, "tags": [%s], "place": {"x": %d, "y": %d}},'
               % (i, rng.getrandbits(30), rng.random() * 100, tags, rng.randint(0, 99), rng.randint(0, 99)))
    yield '{"id": -1, "name": "", "price": 0, "tags": [], "place": {"x": 0, "y": 0}}]'


def xml_records(scale):
    rng = random.Random(3)
    yield "<records>"
    for i in range(max(1, int(120000 * scale))):
        yield ('<record id="%d"><name>record %d</name><place x="%d" y="%d"/><note>%s</note></record>'
               % (i, rng.getrandbits(30), rng.randint(0, 99), rng.randint(0, 99), "text " * rng.randint(1, 9)))
    yield "</records>"


def c_source(scale):
    rng = random.Random(4)
    yield "struct item { struct item *next; int key, value; double weight; };"
    yield "extern void *make(unsigned long); extern int use(void *, int);"
    for i in range(max(1, int(60 * scale))):
        yield "static int work_%d(struct item *list, int n)\n{\n\tint sum = n;" % i
        for k in range(6):
            a, b, c = (rng.randint(1, 99) for _ in range(3))
            yield ("\tfor (struct item *i = list; i; i = i->next) {\n"
                   "\t\tif (i->key %% %d == %d) sum += i->value * %d; else sum ^= use(i, sum / %d);\n"
                   "\t\tswitch (sum & 7) { case 0: i->weight *= %d; break; case %d: sum -= %d; default: i->key++; }\n"
                   "\t}" % (a + 1, a // 2, b, c, a, 1 + k, c))
        yield "\treturn sum;\n}\nint entry_%d(int n) { return work_%d(make(n), n); }" % (i, i)


def cxx_source(scale):
    yield "#include <map>\n#include <memory>\n#include <string>\n#include <vector>\n#include <functional>"
    for i in range(max(1, int(10 * scale))):
        yield ("struct key_%d { int a; bool operator<(const key_%d &o) const { return a < o.a; } };\n"
               "std::map<key_%d, std::vector<std::shared_ptr<std::string>>> map_%d;\n"
               "void add_%d(int n) { map_%d[{n}].push_back(std::make_shared<std::string>(n, 'x')); }\n"
               "std::function<int(int)> call_%d = [](int n) { add_%d(n); return (int)map_%d.size(); };"
               % ((i,) * 9))


def sql(scale):
    rng = random.Random(5)
    rows = max(1, int(120000 * scale))
    yield "CREATE TABLE sale(id INTEGER PRIMARY KEY, customer INT, what TEXT, price REAL);"
    yield "BEGIN;"
    for i in range(rows // 4):
        yield ("INSERT INTO sale(customer, what, price) VALUES(%d, 'thing %d', %.2f);"
               % (rng.randint(1, 2000), rng.getrandbits(20), rng.random() * 100))
    yield "COMMIT;"
    yield ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
           "INSERT INTO sale(customer, what, price) "
           "SELECT i * 7919 %% 5000, printf('%%x-%%s', i * 31, hex(i)), i %% 97 FROM n;" % rows)
    yield "CREATE INDEX by_what ON sale(what);"
    yield ("SELECT count(*), max(length(names)) FROM (SELECT customer, group_concat(what, ', ') AS names "
           "FROM sale GROUP BY customer);")
    yield "SELECT count(DISTINCT upper(substr(what, 3))) FROM sale;"


def smt(scale):
    """Pigeons that do not fit, and sums over the integers that do not add up."""
    pigeons = max(4, int(8 + (scale > 0.5)))
    holes = pigeons - 1
    for p in range(pigeons):
        for h in range(holes):
            yield "(declare-const in_%d_%d Bool)" % (p, h)
        yield "(declare-const x_%d Int)(assert (and (>= x_%d 0) (< x_%d %d)))" % (p, p, p, holes)
        yield "(assert (or %s))" % " ".join("in_%d_%d" % (p, h) for h in range(holes))
        for h in range(holes):
            yield "(assert (= in_%d_%d (= x_%d %d)))" % (p, h, p, h)
        for q in range(p):
            for h in range(holes):
                yield "(assert (or (not in_%d_%d) (not in_%d_%d)))" % (p, h, q, h)
    yield "(check-sat)"


FILES = {
    "words.txt": words,
    "records.json": json_records,
    "records.xml": xml_records,
    "source.c": c_source,
    "source.cc": cxx_source,
    "sales.sql": sql,
    "pigeons.smt2": smt,
}


def write(folder, scale):
    """Writes those that are not there yet; a partial file never keeps the name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, generate in FILES.items():
        path = folder / name
        if not path.exists():
            part = folder / (name + ".part")
            with part.open("w") as file:
                file.writelines(line + "\n" for line in generate(scale))
            part.rename(path)
