class Board {
  private cards = new Map<number, string>();
  async load() {
    const result = await tracker.list_issues({ limit: 20 });
    for (const issue of result.issues) this.cards.set(issue.id, issue.title);
    return this;
  }
  titles() { return [...this.cards.values()]; }
}
const board = await new Board().load();
return board.titles();
