// expect: {"title":"Hello & Welcome","links":[{"href":"https://example.com/a?x=1&y=2","text":"A"},{"href":"https://other.org/b#frag","text":"B"},{"href":"mailto:x@y.z","text":"M"}],"text":"A B Text bold M","params":{"x":"1","y":"2"}}
const html = await tools.fetchText({ url: 'https://example.com/page.html' });
const decode = (s: string) => s.replace(/&(amp|lt|gt|quot|#39);/g, (_, e) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" } as Record<string, string>)[e]);
const links = [...html.matchAll(/<a\s+[^>]*href="(?<href>[^"]*)"[^>]*>(?<text>.*?)<\/a>/gis)].map(({ groups }) => ({ href: new URL(decode(groups!.href), 'https://example.com/page.html').href, text: groups!.text }));
const title = decode(html.match(/<title>(.*?)<\/title>/s)?.[1] ?? '');
const text = decode(html.replace(/<head>.*?<\/head>/s, '').replace(/<[^>]+>/g, ' ')).replace(/\s+/g, ' ').trim();
return { title, links, text, params: Object.fromEntries(new URL(links[0].href).searchParams) };
