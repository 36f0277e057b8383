// expect: {"rows":[{"name":"Widget, large","qty":"4","price":"12.50"},{"name":"Gadget","qty":"10","price":"3.99"},{"name":"He said \"hi\"","qty":"1","price":"0.5"}],"total":"$90.40","back":"name,qty,price\n\"Widget, large\",4,12.50\nGadget,10,3.99\n\"He said \"\"hi\"\"\",1,0.5"}
function parseCSV(text: string): Record<string, string>[] {
  const rows: string[][] = []; let row: string[] = [], field = '', quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) { if (c === '"') { if (text[i + 1] === '"') { field += '"'; i++; } else quoted = false; } else field += c; }
    else if (c === '"') quoted = true;
    else if (c === ',') { row.push(field); field = ''; }
    else if (c === '\n') { row.push(field); rows.push(row); row = []; field = ''; }
    else if (c !== '\r') field += c;
  }
  if (field || row.length) { row.push(field); rows.push(row); }
  const [header, ...body] = rows;
  return body.map((r) => Object.fromEntries(header.map((h, i) => [h, r[i]])));
}
const rows = parseCSV(await tools.fetchText({ url: 'https://example.com/data.csv' }));
const total = rows.reduce((s, r) => s + Number(r.qty) * parseFloat(r.price), 0);
const back = [Object.keys(rows[0]).join(','), ...rows.map((r) => Object.values(r).map((v) => /[",\n]/.test(v) ? `"${v.replaceAll('"', '""')}"` : v).join(','))].join('\n');
return { rows, total: total.toLocaleString('en-US', { style: 'currency', currency: 'USD' }), back };
