// expect: {"words":["Ünïcödé","naïve","café","東京","Ελλάδα","ok"],"slug":"unicode-naive-cafe-東京-2024-ελλαδα-ok","initials":"Ada Lovelace De Byron","scripts":{"han":"東京","greek":"Ελλάδα","emoji":3},"ctor":true,"chars":47,"len":50,"graphemes":2,"punct":["—",";",",","!"],"neg":"a"}
const text = 'Ünïcödé — naïve café; 東京 2024, Ελλάδα! 👩‍👩‍👧 ok';
const words = text.match(/\p{L}+/gu) ?? [];
const slug = text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
const initials = 'ada lovelace de byron'.replace(/\b\p{Ll}/gu, (c) => c.toUpperCase());
const scripts = { han: text.match(/\p{Script=Han}+/u)?.[0], greek: text.match(/\p{sc=Greek}+/u)?.[0], emoji: [...text.matchAll(/\p{Extended_Pictographic}/gu)].length };
return { words, slug, initials, scripts, ctor: new RegExp('^\\p{Lu}', 'u').test(text), chars: [...text].length, len: text.length, graphemes: [...new Intl.Segmenter('en').segment('👩‍👩‍👧é')].length, punct: text.match(/\p{P}/gu), neg: 'a1_'.replace(/\P{L}/gu, '') };
