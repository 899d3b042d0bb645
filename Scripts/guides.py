"""Writes README.md and the pages of `docs` as a catalog for docc.

usage: guides.py CATALOG

GitHub and docc read different links: `(import.md#the-table)` becomes `(doc:import#The-table)`. Links to files
that are not pages keep their text only, because the site has no such files.
"""

import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A page of `docs` that is in no group is listed last, under "More".
GROUPS = {
    "Begin": ["tutorial", "concepts", "faq", "comparison"],
    "Write migrations": ["manifest", "lint", "rules", "ci"],
    "Run migrations": ["operations", "apps", "import", "fleet", "dqlite", "report", "troubleshooting"],
    "Come from another tool": [
        "from-alembic", "from-atlas", "from-dbmate", "from-diesel", "from-django", "from-drizzle", "from-flyway",
        "from-golang-migrate", "from-goose", "from-grdb", "from-plain", "from-prisma", "from-rails",
        "from-sqlitedata", "from-sqlx",
    ],
    "How it works": ["design", "history", "reliability", "performance"],
    "Measurements": ["reliability-run", "performance-run"],
}

LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)")


def slug(heading):
    """The anchor that GitHub gives to a heading."""
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return text.replace(" ", "-")


def headings(text):
    """The headings of a page, by GitHub's anchor."""
    found, fenced = {}, False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        match = re.match(r"#+ (.*)", line)
        if match and not fenced:
            found.setdefault(slug(match[1]), match[1].strip())
    return found


def fragment(heading):
    """The anchor that docc gives to a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[\s/?]+", "-", re.sub(r"[`'\"“”‘’]", "", text).strip())


class Catalog:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.pages = {"schemactl": ROOT / "README.md"}
        self.pages.update({file.stem: file for file in sorted((ROOT / "docs").glob("*.md"))})
        self.pages.update({f"from-{file.stem}": file for file in sorted((ROOT / "docs/from").glob("*.md"))})
        self.names = {file.resolve(): name for name, file in self.pages.items()}
        self.headings = {name: headings(file.read_text()) for name, file in self.pages.items()}

    def link(self, page, match):
        bang, text, target = match.groups()
        if re.match(r"[a-z]+:", target):
            return match[0]
        path, _, anchor = target.partition("#")
        file = (self.pages[page].parent / path).resolve() if path else self.pages[page].resolve()
        if not file.exists():
            sys.exit(f"{self.pages[page]}: error: broken link to {target}")
        if bang:
            shutil.copy(file, self.folder / file.name)
            return f"![{text}]({file.name})"
        name = self.names.get(file)
        if name is None:
            return text
        if anchor and name == page:
            return f"[{text}](doc:#{fragment(self.headings[name].get(anchor) or anchor)})"
        # docc finds no anchors on the top page.
        if not anchor or name == "schemactl":
            return f"[{text}](doc:{name})"
        heading = self.headings[name].get(anchor)
        if heading is None:
            sys.exit(f"{self.pages[page]}: error: {file.name} has no heading #{anchor}")
        if heading == next(iter(self.headings[name].values())):
            return f"[{text}](doc:{name})"
        return f"[{text}](doc:{name}#{fragment(heading)})"

    def convert(self, page):
        lines, fenced = [], False
        for line in self.pages[page].read_text().splitlines():
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                line = LINK.sub(lambda match: self.link(page, match), line)
            lines.append(line)
        return "\n".join(lines) + "\n"

    def write(self):
        listed = [name for group in GROUPS.values() for name in group]
        groups = dict(GROUPS, More=[name for name in self.pages if name not in [*listed, "schemactl"]])
        for name in self.pages:
            text = self.convert(name)
            if name == "schemactl":
                title, rest = text.split("\n", 1)
                topics = "".join(
                    f"\n### {group}\n\n" + "".join(f"- <doc:{page}>\n" for page in pages if page in self.pages)
                    for group, pages in groups.items()
                    if any(page in self.pages for page in pages)
                )
                text = f"{title}\n\n@Metadata {{\n  @TechnologyRoot\n}}\n{rest}\n## Topics\n{topics}"
            (self.folder / f"{name}.md").write_text(text)


Catalog(sys.argv[1]).write()
