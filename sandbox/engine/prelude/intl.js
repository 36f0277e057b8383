// Intl as far as programs use it: en-US exactly as node prints it, and the common forms of a few other locales. All other
// locales fall back to en-US, as the standard allows.
(function (global, kit) {
  'use strict';
  const { host } = kit;
  const { NativeDate } = kit;
  const tag = (C) => Object.defineProperty(C.prototype, Symbol.toStringTag, { value: 'Intl.' + C.name, configurable: true });
  const pick = (options, key, allowed, otherwise, owner) => {
    const v = options[key];
    if (v === undefined) return otherwise;
    if (!allowed.includes(String(v)) && !allowed.includes(v)) throw new RangeError(`Value ${v} out of range for Intl.${owner} options property ${key}`);
    return typeof v === 'boolean' ? v : String(v);
  };
  const lowest = (options, key, min, max, otherwise) => {
    const v = options[key];
    if (v === undefined) return otherwise;
    const n = Number(v);
    if (!(n >= min && n <= max)) throw new RangeError(key + ' value is out of range.');
    return Math.floor(n);
  };

  // --- locales --------------------------------------------------------------------------------------------------

  const nbsp = '\u00a0', narrow = '\u202f';
  // Of numbers: group, decimal, digits before grouping starts, where the currency stands, what stands before %.
  const numbers = {
    en: [',', '.', 1, 'before', ''], de: ['.', ',', 1, 'after', nbsp], fr: [narrow, ',', 1, 'after', nbsp], sv: [nbsp, ',', 1, 'after', nbsp],
    es: ['.', ',', 2, 'after', nbsp], it: ['.', ',', 2, 'after', '%'], pt: ['.', ',', 1, 'spaced', '%'], nl: ['.', ',', 1, 'spaced', '%'],
    ja: [',', '.', 1, 'before', ''], zh: [',', '.', 1, 'before', ''], ko: [',', '.', 1, 'before', ''], pl: [nbsp, ',', 2, 'after', '%'],
    ru: [nbsp, ',', 1, 'after', nbsp], da: ['.', ',', 1, 'after', nbsp], nb: [nbsp, ',', 1, 'after', nbsp], fi: [nbsp, ',', 1, 'after', nbsp],
    'de-CH': ["'", '.', 1, 'spaced', '%'], 'en-IN': ['lakh', '.', 1, 'before', ''],
  };
  // Of dates: order of numbers with their separators, whether the day comes before a month's name, hours to 12.
  const dates = {
    'en-US': { numeric: 'm/d/y', us: true, h12: true, short: 'm/d/yy' },
    'en-CA': { numeric: 'y-mm-dd', us: true, h12: true, am: ['a.m.', 'p.m.'], short: 'y-mm-dd' },
    'en-GB': { numeric: 'dd/mm/y', short: 'dd/mm/y' }, 'en-IE': { numeric: 'd/m/y', short: 'dd/mm/y' },
    'en-AU': { numeric: 'dd/mm/y', h12: true, am: ['am', 'pm'], short: 'd/m/yy', noComma: true }, 'en-NZ': { numeric: 'd/mm/y', h12: true, am: ['am', 'pm'], short: 'd/mm/yy' },
    'en-IN': { numeric: 'd/m/y', h12: true, am: ['am', 'pm'], short: 'dd/mm/yy' },
    de: { numeric: 'd.m.y', short: 'dd.mm.yy', medium: 'dd.mm.y', names: 'de', dot: '.' },
    fr: { numeric: 'dd/mm/y', short: 'dd/mm/y', names: 'fr', noComma: true, join: ' ' },
    es: { hours: 'numeric', numeric: 'd/m/y', short: 'd/m/yy', names: 'es', of: ' de ' },
    it: { numeric: 'dd/mm/y', short: 'dd/mm/yy', names: 'it', noComma: true }, nl: { numeric: 'd-m-y', short: 'dd-mm-y', names: 'nl', noComma: true },
    pt: { numeric: 'dd/mm/y', short: 'dd/mm/y', names: 'pt', of: ' de ' },
    sv: { numeric: 'y-mm-dd', short: 'y-mm-dd', names: 'sv', noComma: true, join: ' ' },
    ja: { hours: 'numeric', numeric: 'y/m/d', short: 'y/mm/dd', medium: 'y/mm/dd', join: ' ', cjk: ['年', '月', '日', ''], week: '日月火水木金土', weekEnd: '曜日' },
    zh: { numeric: 'y/m/d', short: 'y/m/d', join: ' ', cjk: ['年', '月', '日', ''], week: '日一二三四五六', weekEnd: '', weekStart: '星期', medium: 'cjk' },
  };
  const list = (text) => text.split(' ');
  const names = {
    en: { months: list('January February March April May June July August September October November December'), days: list('Sunday Monday Tuesday Wednesday Thursday Friday Saturday'), monthsShort: list('Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'), daysShort: list('Sun Mon Tue Wed Thu Fri Sat') },
    de: { months: list('Januar Februar März April Mai Juni Juli August September Oktober November Dezember'), days: list('Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag'), monthsShort: list('Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.'), daysShort: list('So Mo Di Mi Do Fr Sa') },
    fr: { months: list('janvier février mars avril mai juin juillet août septembre octobre novembre décembre'), days: list('dimanche lundi mardi mercredi jeudi vendredi samedi'), monthsShort: list('janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.'), daysShort: list('dim. lun. mar. mer. jeu. ven. sam.') },
    es: { months: list('enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'), days: list('domingo lunes martes miércoles jueves viernes sábado'), monthsShort: list('ene feb mar abr may jun jul ago sept oct nov dic'), daysShort: list('dom lun mar mié jue vie sáb') },
    it: { months: list('gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'), days: list('domenica lunedì martedì mercoledì giovedì venerdì sabato'), monthsShort: list('gen feb mar apr mag giu lug ago set ott nov dic'), daysShort: list('dom lun mar mer gio ven sab') },
    nl: { months: list('januari februari maart april mei juni juli augustus september oktober november december'), days: list('zondag maandag dinsdag woensdag donderdag vrijdag zaterdag'), monthsShort: list('jan feb mrt apr mei jun jul aug sep okt nov dec'), daysShort: list('zo ma di wo do vr za') },
    pt: { months: list('janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro'), days: list('domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado'), monthsShort: list('jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.'), daysShort: list('dom. seg. ter. qua. qui. sex. sáb.') },
    sv: { months: list('januari februari mars april maj juni juli augusti september oktober november december'), days: list('söndag måndag tisdag onsdag torsdag fredag lördag'), monthsShort: list('jan. feb. mars apr. maj juni juli aug. sep. okt. nov. dec.'), daysShort: list('sön mån tis ons tors fre lör') },
  };
  const tagForm = /^([a-z]{2,3}|[a-z]{5,8})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?(?:-(?:[a-z\d]{5,8}|\d[a-z\d]{3}))*(?:-[a-wy-z\d](?:-[a-z\d]{2,8})+)*(?:-x(?:-[a-z\d]{1,8})+)?$/i;
  function canonical(tag) {
    if (typeof tag !== 'string' && (typeof tag !== 'object' || tag === null)) throw new TypeError('Incorrect locale information provided');
    const m = tagForm.exec(String(tag));
    if (!m) throw new RangeError('Incorrect locale information provided');
    const [, language, script, region] = m;
    return [language.toLowerCase(), script && script[0].toUpperCase() + script.slice(1).toLowerCase(), region?.toUpperCase()].filter(Boolean).join('-');
  }
  const canonicals = (locales) => {
    if (locales === undefined) return [];
    if (locales === null) throw new TypeError('Cannot convert undefined or null to object');
    return (typeof locales === 'string' || locales instanceof Locale ? [locales] : [...locales]).map(canonical);
  };
  const languageOf = (tag) => tag.split('-')[0];
  const resolve = (locales, table = numbers) => canonicals(locales).find((t) => languageOf(t) === 'en' || table[t] || table[languageOf(t)]) ?? 'en-US';
  const lookup = (table, tag, otherwise) => table[tag] ?? table[languageOf(tag)] ?? otherwise;
  const supported = (locales) => canonicals(locales).filter((t) => numbers[languageOf(t)]);
  class Locale {
    #tag;
    constructor(tag) { this.#tag = canonical(String(tag)); }
    get baseName() { return this.#tag; }
    get language() { return languageOf(this.#tag); }
    get region() { return this.#tag.split('-').find((part, i) => i > 0 && part.length < 4); }
    get script() { return this.#tag.split('-').find((part, i) => i > 0 && part.length === 4); }
    toString() { return this.#tag; }
  }

  // --- numbers --------------------------------------------------------------------------------------------------

  // A number as decimal digits: the shortest that mean it, as people expect 1.005 to round.
  function decimal(value) {
    let text = String(value);
    const negative = text[0] === '-' || Object.is(value, -0);
    if (text[0] === '-') text = text.slice(1);
    const [mantissa, exponent = '0'] = text.split(/e/i);
    let [whole, fraction = ''] = mantissa.split('.');
    const shift = Number(exponent);
    if (shift > 0) {
      fraction = fraction.padEnd(shift, '0');
      whole += fraction.slice(0, shift);
      fraction = fraction.slice(shift);
    } else if (shift < 0) {
      whole = whole.padStart(1 - shift, '0');
      fraction = whole.slice(shift) + fraction;
      whole = whole.slice(0, shift);
    }
    return { negative, whole: whole.replace(/^0+(?=\d)/, ''), fraction: fraction.replace(/0+$/, '') };
  }
  // places may be negative: that many digits before the point are rounded away.
  function round(d, places, mode) {
    const digits = d.whole + d.fraction, keep = d.whole.length + places;
    if (keep >= digits.length) return { ...d };
    const cut = keep < 0 ? '0' : digits.slice(0, keep), rest = keep < 0 ? '0' + digits : digits.slice(keep);
    let kept = BigInt(cut || '0');
    if (roundsUp(rest, kept, d.negative, mode)) kept += 1n;
    let text = String(kept);
    if (places >= 0) {
      text = text.padStart(places + 1, '0');
      return { negative: d.negative, whole: text.slice(0, text.length - places), fraction: text.slice(text.length - places).replace(/0+$/, '') };
    }
    return { negative: d.negative, whole: kept === 0n ? '0' : text + '0'.repeat(-places), fraction: '' };
  }
  function roundsUp(rest, kept, negative, mode) {
    if (/^0*$/.test(rest)) return false;
    const half = /^50*$/.test(rest) ? 0 : rest[0] >= '5' ? 1 : -1;
    switch (mode) {
      case 'ceil': return !negative;
      case 'floor': return negative;
      case 'expand': return true;
      case 'trunc': return false;
      case 'halfCeil': return half > 0 || (half === 0 && !negative);
      case 'halfFloor': return half > 0 || (half === 0 && negative);
      case 'halfTrunc': return half > 0;
      case 'halfEven': return half > 0 || (half === 0 && kept % 2n === 1n);
    }
    return half >= 0;
  }
  const magnitude = (d) => (d.whole !== '0' && d.whole !== '' ? d.whole.length : d.fraction === '' ? 1 : -/^0*/.exec(d.fraction)[0].length);
  function toDigits(d, o) {
    let r;
    if (o.maximumSignificantDigits !== undefined) {
      r = round(d, o.maximumSignificantDigits - magnitude(d), o.roundingMode);
      const places = Math.max(0, o.minimumSignificantDigits - magnitude(r));
      r.fraction = r.fraction.padEnd(places, '0');
    } else {
      const places = o.compactPlaces && magnitude(d) <= 1 ? Math.max(1, 2 - magnitude(d)) : o.maximumFractionDigits;
      r = round(d, places, o.roundingMode);
      r.fraction = r.fraction.padEnd(o.minimumFractionDigits, '0');
    }
    if (o.trailingZeroDisplay === 'stripIfInteger' && /^0*$/.test(r.fraction)) r.fraction = '';
    r.whole = (r.whole || '0').padStart(o.minimumIntegerDigits, '0');
    return r;
  }
  const isZero = (d) => /^0*$/.test(d.whole + d.fraction);
  function groups(whole, style) {
    const out = [whole.slice(-3)];
    for (let rest = whole.slice(0, -3); rest !== ''; ) {
      const size = style === 'lakh' ? 2 : 3;
      out.unshift(rest.slice(-size));
      rest = rest.slice(0, -size);
    }
    return out;
  }
  const currencyDigits = { JPY: 0, KRW: 0, VND: 0, CLP: 0, ISK: 0, PYG: 0, UGX: 0, XAF: 0, XOF: 0, XPF: 0, RWF: 0, KMF: 0, GNF: 0, DJF: 0, BIF: 0, VUV: 0, BHD: 3, IQD: 0, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3 };
  const symbols = { USD: '$', EUR: '€', GBP: '£', JPY: '¥', INR: '₹', CNY: 'CN¥', KRW: '₩', BRL: 'R$', CAD: 'CA$', AUD: 'A$', MXN: 'MX$', NZD: 'NZ$', HKD: 'HK$', TWD: 'NT$', ILS: '₪', VND: '₫', XAF: 'FCFA', XOF: 'F\u202fCFA', PHP: '₱' };
  const narrowSymbols = { CAD: '$', AUD: '$', MXN: '$', NZD: '$', HKD: '$', TWD: '$', CNY: '¥', SEK: 'kr', NOK: 'kr', DKK: 'kr', PLN: 'zł', CZK: 'Kč', RUB: '₽', UAH: '₴', TRY: '₺', SGD: '$', ARS: '$', CLP: '$', COP: '$', NGN: '₦', HUF: 'Ft', THB: '฿' };
  const currencyNames = { USD: 'US dollar', EUR: 'euro', GBP: 'British pound', JPY: 'Japanese yen', INR: 'Indian rupee', CNY: 'Chinese yuan', CAD: 'Canadian dollar', AUD: 'Australian dollar', CHF: 'Swiss franc', MXN: 'Mexican peso', BRL: 'Brazilian real', KRW: 'South Korean won', SEK: 'Swedish krona', NOK: 'Norwegian krone', DKK: 'Danish krone', NZD: 'New Zealand dollar', SGD: 'Singapore dollar', HKD: 'Hong Kong dollar', ZAR: 'South African rand', TRY: 'Turkish lira', RUB: 'Russian ruble', PLN: 'Polish zloty' };
  const invariable = ['JPY', 'CNY', 'KRW'], irregular = { SEK: 'Swedish kronor', NOK: 'Norwegian kroner', DKK: 'Danish kroner', BRL: 'Brazilian reals', TRY: 'Turkish Lira', PLN: 'Polish zlotys', ZAR: 'South African rand', HKD: 'Hong Kong dollars' };
  function currencyName(code, one) {
    const name = currencyNames[code];
    if (!name) return code;
    return one || invariable.includes(code) ? name : (irregular[code] ?? name + 's');
  }
  // Units: short form, long form in the singular, narrow form; a short form with a | has a plural.
  const units = {
    kilometer: [' km', 'kilometer', 'km'], meter: [' m', 'meter', 'm'], centimeter: [' cm', 'centimeter', 'cm'], millimeter: [' mm', 'millimeter', 'mm'],
    mile: [' mi', 'mile', 'mi'], foot: [' ft', 'foot', '′'], inch: [' in', 'inch', '″'], yard: [' yd', 'yard', 'yd'], acre: [' ac', 'acre', 'ac'], hectare: [' ha', 'hectare', 'ha'],
    kilogram: [' kg', 'kilogram', 'kg'], gram: [' g', 'gram', 'g'], pound: [' lb', 'pound', '#'], ounce: [' oz', 'ounce', 'oz'], stone: [' st', 'stone', 'st'],
    liter: [' L', 'liter', 'L'], milliliter: [' mL', 'milliliter', 'mL'], gallon: [' gal', 'gallon', 'gal'], 'fluid-ounce': [' fl oz', 'fluid ounce', 'fl oz'],
    bit: [' bit', 'bit', 'bit'], byte: [' byte', 'byte', 'B'], kilobit: [' kb', 'kilobit', 'kb'], kilobyte: [' kB', 'kilobyte', 'kB'], megabit: [' Mb', 'megabit', 'Mb'],
    megabyte: [' MB', 'megabyte', 'MB'], gigabit: [' Gb', 'gigabit', 'Gb'], gigabyte: [' GB', 'gigabyte', 'GB'], terabit: [' Tb', 'terabit', 'Tb'], terabyte: [' TB', 'terabyte', 'TB'], petabyte: [' PB', 'petabyte', 'PB'],
    nanosecond: [' ns', 'nanosecond', 'ns'], microsecond: [' μs', 'microsecond', 'μs'], millisecond: [' ms', 'millisecond', 'ms'], second: [' sec', 'second', 's'], minute: [' min', 'minute', 'm'], hour: [' hr', 'hour', 'h'],
    day: [' day| days', 'day', 'd'], week: [' wk| wks', 'week', 'w'], month: [' mth| mths', 'month', 'm'], year: [' yr| yrs', 'year', 'y'],
    celsius: ['°C', 'degree Celsius', '°C'], fahrenheit: ['°F', 'degree Fahrenheit', '°'], degree: [' deg', 'degree', '°'], percent: ['%', 'percent', '%'],
  };
  const plurals = { foot: 'feet', inch: 'inches', stone: 'stones', 'degree Celsius': 'degrees Celsius', 'degree Fahrenheit': 'degrees Fahrenheit', percent: 'percent' };
  function unitText(unit, display, one) {
    const [first, per] = unit.split('-per-');
    if (unit === 'mile-per-hour') return { short: ' mph', narrow: 'mph', long: one ? ' mile per hour' : ' miles per hour' }[display];
    if (unit === 'mile-per-gallon') return { short: ' mpg', narrow: 'mpg', long: one ? ' mile per gallon' : ' miles per gallon' }[display];
    const [short, long, slim] = units[first];
    const head = display === 'long' ? ' ' + (one ? long : (plurals[long] ?? long + 's')) : display === 'narrow' ? slim : short.split('|')[one ? 0 : short.includes('|') ? 1 : 0];
    if (!per) return head;
    const tails = { hour: 'h', second: 's', minute: 'min', day: 'd' };
    return display === 'long' ? `${head} per ${units[per][1]}` : `${head}/${tails[per] ?? units[per][2]}`;
  }
  const styles = ['decimal', 'percent', 'currency', 'unit'];
  function numberOptions(locales, options) {
    const o = options === undefined ? {} : Object(options);
    const r = { locale: resolve(locales), numberingSystem: 'latn', style: pick(o, 'style', styles, 'decimal', 'NumberFormat') };
    if (o.currency !== undefined && !/^[A-Za-z]{3}$/.test(o.currency)) throw new RangeError('Invalid currency code : ' + o.currency);
    if (r.style === 'currency') {
      if (o.currency === undefined) throw new TypeError('Currency code is required with currency style.');
      r.currency = String(o.currency).toUpperCase();
      r.currencyDisplay = pick(o, 'currencyDisplay', ['code', 'symbol', 'narrowSymbol', 'name'], 'symbol', 'NumberFormat');
      r.currencySign = pick(o, 'currencySign', ['standard', 'accounting'], 'standard', 'NumberFormat');
    }
    if (r.style === 'unit') {
      if (o.unit === undefined || !String(o.unit).split('-per-').every((u) => units[u])) throw (o.unit === undefined ? new TypeError("Invalid unit argument for Intl.NumberFormat() ''") : new RangeError(`Invalid unit argument for Intl.NumberFormat() '${o.unit}'`));
      r.unit = String(o.unit);
      r.unitDisplay = pick(o, 'unitDisplay', ['short', 'narrow', 'long'], 'short', 'NumberFormat');
    }
    const notation = pick(o, 'notation', ['standard', 'scientific', 'engineering', 'compact'], 'standard', 'NumberFormat');
    digitOptions(r, o, notation);
    const grouping = o.useGrouping;
    r.useGrouping = grouping === undefined ? (notation === 'compact' ? 'min2' : 'auto') : grouping === 'false' || grouping === false ? false : grouping === true || grouping === 'true' ? 'always' : pick(o, 'useGrouping', ['min2', 'auto', 'always'], 'auto', 'NumberFormat');
    r.notation = notation;
    if (notation === 'compact') r.compactDisplay = pick(o, 'compactDisplay', ['short', 'long'], 'short', 'NumberFormat');
    r.signDisplay = pick(o, 'signDisplay', ['auto', 'never', 'always', 'exceptZero', 'negative'], 'auto', 'NumberFormat');
    r.roundingMode = pick(o, 'roundingMode', ['ceil', 'floor', 'expand', 'trunc', 'halfCeil', 'halfFloor', 'halfExpand', 'halfTrunc', 'halfEven'], 'halfExpand', 'NumberFormat');
    r.roundingIncrement = 1;
    r.trailingZeroDisplay = pick(o, 'trailingZeroDisplay', ['auto', 'stripIfInteger'], 'auto', 'NumberFormat');
    r.roundingPriority = 'auto';
    return r;
  }
  function digitOptions(r, o, notation) {
    r.minimumIntegerDigits = lowest(o, 'minimumIntegerDigits', 1, 21, 1);
    if (o.minimumSignificantDigits !== undefined || o.maximumSignificantDigits !== undefined) {
      r.minimumSignificantDigits = lowest(o, 'minimumSignificantDigits', 1, 21, 1);
      r.maximumSignificantDigits = lowest(o, 'maximumSignificantDigits', r.minimumSignificantDigits, 21, 21);
      return;
    }
    const usual = r.style === 'currency' && notation === 'standard' ? [currencyDigits[r.currency] ?? 2, currencyDigits[r.currency] ?? 2] : [0, r.style === 'percent' || notation === 'compact' || r.style === 'currency' ? 0 : 3];
    let min = lowest(o, 'minimumFractionDigits', 0, 20, undefined), max = lowest(o, 'maximumFractionDigits', 0, 20, undefined);
    if (notation === 'compact' && min === undefined && max === undefined) r.compactPlaces = true;
    min ??= Math.min(usual[0], max ?? usual[0]);
    max ??= Math.max(usual[1], min);
    if (min > max) throw new RangeError('maximumFractionDigits value is out of range.');
    r.minimumFractionDigits = min;
    r.maximumFractionDigits = max;
  }
  const part = (type, value) => ({ type, value });
  const compacts = { short: ['', 'K', 'M', 'B', 'T'], long: ['', ' thousand', ' million', ' billion', ' trillion'] };
  function scaled(d, o) {
    const shifted = (places) => {
      const digits = (d.whole + d.fraction.padEnd(Math.max(0, -places), '0')), at = d.whole.length - places;
      return { negative: d.negative, whole: at <= 0 ? '0' : digits.slice(0, at), fraction: (at <= 0 ? '0'.repeat(-at) + digits : digits.slice(at)).replace(/0+$/, '') };
    };
    if (o.notation === 'compact') {
      let step = Math.min(4, Math.max(0, Math.floor((magnitude(d) - 1) / 3)));
      let r = toDigits(shifted(step * 3), o);
      if (r.whole.length > 3 && step < 4) r = toDigits(shifted(++step * 3), o);
      return [r, compacts[o.compactDisplay][step], 'compact'];
    }
    if (o.notation === 'scientific' || o.notation === 'engineering') {
      let power = isZero(d) ? 0 : magnitude(d) - 1;
      if (o.notation === 'engineering') power = Math.floor(power / 3) * 3;
      return [toDigits(shifted(power), o), 'E' + power, 'exponent'];
    }
    return [toDigits(d, o), '', ''];
  }
  function numeric(value) {
    if (typeof value === 'bigint' || typeof value === 'number') return value;
    if (typeof value === 'string' && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return value.trim();
    return typeof value === 'object' && value !== null ? numeric(value.valueOf() === value ? String(value) : value.valueOf()) : Number(value);
  }
  function numberParts(input, o) {
    const value = numeric(input), [groupSign, point, least] = lookup(numbers, o.locale, numbers.en);
    let body = [], negative = value < 0 || Object.is(value, -0), zero = false, one = false, suffix = '', suffixType = '';
    if (Number.isNaN(value)) {
      body.push(part('nan', 'NaN'));
      negative = false;
    } else if (value === Infinity || value === -Infinity) body.push(part('infinity', '∞'));
    else {
      let d = decimal(value);
      if (o.style === 'percent') d = decimal((d.negative ? '-' : '') + (d.whole + d.fraction.padEnd(2, '0').slice(0, 2) + '.' + (d.fraction.slice(2) || '0')));
      let r;
      [r, suffix, suffixType] = scaled(d, o);
      zero = isZero(r);
      one = r.whole === '1' && r.fraction === '';
      body = digitParts(r, o, groupSign, point, least);
    }
    if (suffix.startsWith('E')) body.push(part('exponentSeparator', 'E'), ...(suffix[1] === '-' ? [part('exponentMinusSign', '-')] : []), part('exponentInteger', suffix.replace(/^E-?/, '')));
    else if (suffix) body.push(...(suffix[0] === ' ' ? [part('literal', ' '), part('compact', suffix.slice(1))] : [part('compact', suffix)]));
    return signed(styled(body, o, one), sign(o.signDisplay, negative, zero || Number.isNaN(value)), o);
  }
  function digitParts(r, o, groupSign, point, least) {
    const wanted = o.useGrouping === 'min2' ? 2 : o.useGrouping === 'always' ? 1 : least;
    const chunks = o.useGrouping === false || r.whole.length < 3 + wanted ? [r.whole] : groups(r.whole, groupSign);
    const body = chunks.flatMap((c, i) => (i ? [part('group', groupSign === 'lakh' ? ',' : groupSign), part('integer', c)] : [part('integer', c)]));
    return r.fraction ? [...body, part('decimal', point), part('fraction', r.fraction)] : body;
  }
  function sign(display, negative, zero) {
    switch (display) {
      case 'never': return '';
      case 'always': return negative ? '-' : '+';
      case 'exceptZero': return zero ? '' : negative ? '-' : '+';
      case 'negative': return negative && !zero ? '-' : '';
    }
    return negative ? '-' : '';
  }
  const symbolOf = (o) => {
    const region = o.locale.split('-')[1];
    if (o.currencyDisplay === 'code') return o.currency;
    if (o.currencyDisplay === 'narrowSymbol') return narrowSymbols[o.currency] ?? symbols[o.currency] ?? o.currency;
    if (o.currency === 'USD' && ['GB', 'AU', 'CA', 'NZ', 'IE'].includes(region)) return 'US$';
    if (o.currency === 'USD' && ['es', 'sv', 'pt', 'nl', 'zh', 'ko'].includes(languageOf(o.locale))) return 'US$';
    if (o.currency === 'USD' && languageOf(o.locale) === 'fr') return '$US';
    if (o.currency === 'USD' && ['it', 'pl'].includes(languageOf(o.locale))) return 'USD';
    if ({ CAD: 'CA', AUD: 'AU', MXN: 'MX', NZD: 'NZ' }[o.currency] === region && region) return '$';
    if (o.currency === 'JPY' && region === 'JP') return '￥';
    if (o.currency === 'CNY' && region === 'CN') return '¥';
    if (o.locale.startsWith('sv') && o.currency === 'SEK') return 'kr';
    return symbols[o.currency] ?? o.currency;
  };
  function styled(body, o, one) {
    const place = lookup(numbers, o.locale, numbers.en);
    if (o.style === 'percent') {
      const gap = place[4] === '%' ? '' : place[4];
      return [...body, ...(gap ? [part('literal', gap)] : []), part('percentSign', '%')];
    }
    if (o.style === 'unit') {
      const text = unitText(o.unit, o.unitDisplay, one);
      if (o.unit === 'percent' && o.unitDisplay !== 'long') return [...body, part('percentSign', '%')];
      return [...body, ...(text[0] === ' ' ? [part('literal', ' ')] : []), part('unit', text.trimStart())];
    }
    if (o.style !== 'currency') return body;
    if (o.currencyDisplay === 'name') return [...body, part('literal', ' '), part('currency', currencyName(o.currency, one && !body.some((p) => p.type === 'fraction')))];
    const symbol = symbolOf(o);
    if (place[3] === 'after') return [...body, part('literal', nbsp), part('currency', symbol)];
    const spaced = place[3] === 'spaced' || /[A-Za-z]$/.test(symbol);
    return [part('currency', symbol), ...(spaced ? [part('literal', nbsp)] : []), ...body];
  }
  function signed(parts, text, o) {
    if (!text) return parts;
    if (text === '-' && o.currencySign === 'accounting') return [part('literal', '('), ...parts, part('literal', ')')];
    const minus = ['sv', 'nb', 'fi'].includes(languageOf(o.locale)) ? '\u2212' : '-';
    return [part(text === '-' ? 'minusSign' : 'plusSign', text === '-' ? minus : text), ...parts];
  }
  const joined = (parts) => parts.map((p) => p.value).join('');
  const shown = (o) => Object.fromEntries(Object.entries(o).filter(([k, v]) => v !== undefined && k !== 'compactPlaces'));
  class NumberFormat {
    #options; #format;
    constructor(locales, options) { this.#options = numberOptions(locales, options); }
    get format() { return (this.#format ??= (value) => joined(numberParts(value, this.#options))); }
    formatToParts(value) { return numberParts(value, this.#options); }
    formatRange(a, b) {
      const [x, y] = [this.format(a), this.format(b)];
      return x === y ? '~' + x : `${x} \u2013 ${y}`.replace(/^(\$|€|£)(.*) \u2013 \1/, '$1$2 \u2013 $1');
    }
    resolvedOptions() { return shown(this.#options); }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  // --- dates ----------------------------------------------------------------------------------------------------

  const zones = {
    'America/New_York': 'E', 'America/Detroit': 'E', 'America/Toronto': 'E', 'US/Eastern': 'E', 'America/Chicago': 'C', 'America/Winnipeg': 'C', 'US/Central': 'C', 'America/Denver': 'M', 'America/Boise': 'M', 'America/Edmonton': 'M',
    'America/Phoenix': 'M', 'US/Mountain': 'M', 'America/Los_Angeles': 'P', 'America/Vancouver': 'P', 'America/Tijuana': 'P', 'US/Pacific': 'P', 'America/Anchorage': 'AK', 'Pacific/Honolulu': 'H', 'America/Indiana/Indianapolis': 'E', 'America/Kentucky/Louisville': 'E', 'America/Montreal': 'E',
  };
  const american = { E: 'Eastern', C: 'Central', M: 'Mountain', P: 'Pacific', AK: 'Alaska', H: 'Hawaii-Aleutian' };
  const zoneFamilies = [
    ['Central European', 'Europe/Berlin Europe/Paris Europe/Madrid Europe/Rome Europe/Vienna Europe/Zurich Europe/Amsterdam Europe/Brussels Europe/Stockholm Europe/Oslo Europe/Copenhagen Europe/Prague Europe/Warsaw Europe/Budapest Europe/Belgrade Europe/Luxembourg'],
    ['Eastern European', 'Europe/Athens Europe/Helsinki Europe/Kiev Europe/Kyiv Europe/Bucharest Europe/Sofia Europe/Riga Europe/Tallinn Europe/Vilnius Africa/Cairo'], ['Western European', 'Europe/Lisbon'],
    ['Japan', 'Asia/Tokyo'], ['India', 'Asia/Kolkata Asia/Calcutta'], ['China', 'Asia/Shanghai'], ['Hong Kong', 'Asia/Hong_Kong'], ['Singapore', 'Asia/Singapore'], ['Korean', 'Asia/Seoul'], ['Moscow', 'Europe/Moscow'],
    ['Australian Eastern', 'Australia/Sydney Australia/Melbourne Australia/Brisbane Australia/Hobart'], ['Australian Western', 'Australia/Perth'], ['Australian Central', 'Australia/Adelaide Australia/Darwin'], ['New Zealand', 'Pacific/Auckland'],
    ['Brasilia', 'America/Sao_Paulo'], ['Argentina', 'America/Argentina/Buenos_Aires America/Buenos_Aires'], ['Gulf', 'Asia/Dubai'], ['Israel', 'Asia/Jerusalem'], ['Atlantic', 'America/Halifax'], ['Arabian', 'Asia/Riyadh'], ['Pakistan', 'Asia/Karachi'], ['Indochina', 'Asia/Bangkok'], ['South Africa', 'Africa/Johannesburg'], ['West Africa', 'Africa/Lagos'], ['East Africa', 'Africa/Nairobi'], ['Philippine', 'Asia/Manila'], ['Newfoundland', 'America/St_Johns'],
  ];
  const families = Object.fromEntries(zoneFamilies.flatMap(([family, list]) => list.split(' ').map((z) => [z, family])));
  const summers = ['Central European', 'Eastern European', 'Western European', 'Moscow', 'Brasilia', 'Hong Kong', 'Argentina'];
  const two = (n) => String(n).padStart(2, '0');
  function offsetText(minutes, style) {
    const m = Math.abs(minutes), h = Math.floor(m / 60);
    if (minutes === 0 && style !== 'long') return 'GMT';
    return `GMT${minutes < 0 ? '-' : '+'}${style === 'long' ? two(h) : h}${style === 'long' || m % 60 ? ':' + two(m % 60) : ''}`;
  }
  function zoneText(zone, at, style) {
    const [, seconds, , summer] = zoneAt(zone, at), minutes = Math.trunc(seconds / 60);
    if (style === 'shortOffset') return minutes === 0 ? 'GMT+0' : offsetText(minutes, 'short');
    if (style === 'longOffset') return offsetText(minutes, 'long');
    const long = style.startsWith('long'), generic = style.endsWith('Generic'), us = zones[zone];
    if (zone === 'UTC') return long ? (generic ? 'GMT' : 'Coordinated Universal Time') : generic ? 'GMT' : 'UTC';
    if (us) {
      const kind = generic ? '' : summer ? 'Daylight ' : 'Standard ';
      return long ? `${american[us]} ${kind}Time` : us + kind.slice(0, 1) + 'T';
    }
    if (!long) return offsetText(minutes, 'short');
    if (zone === 'Europe/London') return generic ? 'United Kingdom Time' : summer ? 'British Summer Time' : 'Greenwich Mean Time';
    if (zone === 'Europe/Dublin') return generic ? 'Ireland Time' : minutes ? 'Irish Standard Time' : 'Greenwich Mean Time';
    const family = families[zone];
    if (!family) return offsetText(minutes, 'long');
    const kind = generic ? '' : summer ? (summers.includes(family) ? 'Summer ' : 'Daylight ') : ['Gulf', 'Singapore', 'East Africa', 'Indochina'].includes(family) && !summer ? (family === 'East Africa' || family === 'Indochina' ? '' : 'Standard ') : 'Standard ';
    return `${family} ${kind}Time`;
  }
  function zoneAt(zone, at) {
    if (zone === 'UTC') return ['UTC', 0, 'UTC', false];
    return host.zone(zone, at);
  }
  function zoneNamed(name) {
    const text = String(name);
    if (/^(utc|gmt|etc\/utc|etc\/gmt)$/i.test(text)) return 'UTC';
    const found = host.zone(text, 0);
    if (!found) throw new RangeError('Invalid time zone specified: ' + text);
    return found[0];
  }
  const fields = ['weekday', 'era', 'year', 'month', 'day', 'dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits', 'timeZoneName'];
  const widths = {
    weekday: ['narrow', 'short', 'long'], era: ['narrow', 'short', 'long'], year: ['2-digit', 'numeric'], month: ['2-digit', 'numeric', 'narrow', 'short', 'long'], day: ['2-digit', 'numeric'],
    dayPeriod: ['narrow', 'short', 'long'], hour: ['2-digit', 'numeric'], minute: ['2-digit', 'numeric'], second: ['2-digit', 'numeric'], timeZoneName: ['short', 'long', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'],
  };
  const stylesOf = ['full', 'long', 'medium', 'short'];
  function dateOptions(locales, options, required, defaults) {
    const o = options === undefined ? {} : Object(options), r = { locale: resolve(locales, dates), calendar: 'gregory', numberingSystem: 'latn' };
    r.timeZone = o.timeZone === undefined ? 'UTC' : zoneNamed(o.timeZone);
    const style = { date: pick(o, 'dateStyle', stylesOf, undefined, 'DateTimeFormat'), time: pick(o, 'timeStyle', stylesOf, undefined, 'DateTimeFormat') };
    for (const key of fields) if (o[key] !== undefined) r[key] = key === 'fractionalSecondDigits' ? lowest(o, key, 1, 3) : pick(o, key, widths[key], undefined, 'DateTimeFormat');
    if (style.date || style.time) styleFields(r, style, required);
    else defaultFields(r, required, defaults);
    const table = lookup(dates, r.locale, dates['en-US']);
    if (r.hour) {
      r.hour12 = o.hour12 === undefined ? (o.hourCycle === undefined ? !!table.h12 : /^h1[12]$/.test(o.hourCycle)) : !!o.hour12;
      r.hourCycle = o.hour12 === undefined && o.hourCycle !== undefined ? pick(o, 'hourCycle', ['h11', 'h12', 'h23', 'h24'], 'h23', 'DateTimeFormat') : r.hour12 ? 'h12' : table.h12 && table.us ? 'h24' : 'h23';
      if (!r.hour12 && r.minute) r.hour = (r.hour === 'numeric' && table.hours) || '2-digit';
      if (!r.hour12 && !r.minute && languageOf(r.locale) === 'en') r.hour = '2-digit';
    }
    return r;
  }
  function styleFields(r, style, required) {
    for (const key of fields) if (r[key] !== undefined) throw new TypeError(`Can't set option ${key} when ${style.date ? 'dateStyle' : 'timeStyle'} is used`);
    if (required === 'date' && style.time) throw new TypeError('Invalid option : timeStyle');
    if (required === 'time' && style.date) throw new TypeError('Invalid option : dateStyle');
    r.dateStyle = style.date;
    r.timeStyle = style.time;
    const forms = { full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric' }, long: { year: 'numeric', month: 'long', day: 'numeric' }, medium: { year: 'numeric', month: 'short', day: 'numeric' }, short: { year: '2-digit', month: 'numeric', day: 'numeric' } };
    Object.assign(r, style.date && forms[style.date]);
    if (style.time) Object.assign(r, { hour: 'numeric', minute: '2-digit' }, style.time !== 'short' && { second: '2-digit' }, style.time === 'full' && { timeZoneName: 'long' }, style.time === 'long' && { timeZoneName: 'short' });
  }
  function defaultFields(r, required, defaults) {
    const has = (keys) => keys.some((key) => r[key] !== undefined);
    const wanted = (required !== 'time' && has(['weekday', 'year', 'month', 'day'])) || (required !== 'date' && has(['dayPeriod', 'hour', 'minute', 'second', 'fractionalSecondDigits']));
    if (wanted) return;
    if (defaults !== 'time') Object.assign(r, { year: 'numeric', month: 'numeric', day: 'numeric' });
    if (defaults !== 'date') Object.assign(r, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
  }
  // local gives the date's fields as the zone's clocks and calendars show them.
  function local(at, zone) {
    const d = new NativeDate(at + zoneAt(zone, at)[1] * 1000);
    const year = d.getUTCFullYear();
    return { year: year > 0 ? year : 1 - year, era: year > 0 ? 1 : 0, month: d.getUTCMonth(), day: d.getUTCDate(), weekday: d.getUTCDay(), hour: d.getUTCHours(), minute: d.getUTCMinutes(), second: d.getUTCSeconds(), ms: d.getUTCMilliseconds(), at };
  }
  const literal = (value) => part('literal', value);
  const namesOf = (o) => names[languageOf(o.locale)] ?? names.en;
  function monthName(o, f) {
    const n = namesOf(o);
    if (o.month === 'long') return n.months[f.month];
    if (o.month === 'narrow') return n.months[f.month][0].toUpperCase();
    const name = n.monthsShort[f.month];
    return /^en-(GB|AU|IE|NZ|IN)/.test(o.locale) && name === 'Sep' && !o.locale.endsWith('IN') ? 'Sept' : name;
  }
  function weekdayName(o, f, table) {
    if (table.week) return (table.weekStart ?? '') + table.week[f.weekday] + (o.weekday === 'short' ? '' : table.weekEnd);
    const n = namesOf(o);
    if (o.weekday === 'narrow') return n.days[f.weekday][0].toUpperCase();
    return o.weekday === 'long' ? n.days[f.weekday] : n.daysShort[f.weekday];
  }
  const yearPart = (o, f) => part('year', o.year === '2-digit' ? two(f.year % 100) : String(f.year));
  const dayPart = (o, f) => part('day', o.day === '2-digit' ? two(f.day) : String(f.day));
  function numericDate(o, f, table) {
    let form = o.dateStyle === 'short' ? table.short : o.dateStyle === 'medium' && table.medium !== 'cjk' ? table.medium : table.numeric;
    if (!o.dateStyle) {
      const strip = (key, letter) => { if (!o[key]) form = form.replace(new RegExp(`[^a-z]?${letter}+`), '').replace(/^[^a-z]/, ''); };
      strip('year', 'y');
      strip('month', 'm');
      strip('day', 'd');
      if (o.year === '2-digit') form = form.replace('y', 'yy');
      if (o.month === '2-digit') form = form.replace(/m+/, 'mm');
      if (o.day === '2-digit') form = form.replace(/d+/, 'dd');
    }
    return form.match(/y+|m+|d+|[^ymd]+/g).map((t) => {
      switch (t) {
        case 'y': return part('year', String(f.year));
        case 'yy': return part('year', two(f.year % 100));
        case 'm': return part('month', String(f.month + 1));
        case 'mm': return part('month', two(f.month + 1));
        case 'd': return part('day', String(f.day));
        case 'dd': return part('day', two(f.day));
      }
      return literal(t);
    });
  }
  const between = (lists, separator) => lists.filter((l) => l.length).flatMap((l, i) => (i ? [literal(separator), ...l] : l));
  function dateParts(o, f, table) {
    const named = o.month && o.month !== 'numeric' && o.month !== '2-digit' && o.dateStyle !== 'short' && !(o.dateStyle === 'medium' && table.medium && table.medium !== 'cjk');
    const weekday = o.weekday ? [part('weekday', weekdayName(o, f, table))] : [];
    if (table.cjk && (named || o.weekday)) return cjkDate(o, f, table, weekday);
    if (!named) {
      const numbersOnly = o.year && o.day && !o.month ? [yearPart(o, f), literal(' (day: '), dayPart(o, f), literal(')')] : o.year || o.month || o.day ? numericDate(o, f, table) : [];
      if (o.weekday && !o.month && numbersOnly.length) return between([numbersOnly, weekday], ' ');
      return between([weekday, numbersOnly], ', ');
    }
    const month = [part('month', monthName(o, f))], day = o.day ? [dayPart(o, f)] : [], year = o.year ? [yearPart(o, f)] : [];
    if (table.us) {
      const monthDay = between([month, day], ' ');
      const rest = day.length ? between([monthDay, year], ', ') : between([month, year], ' ');
      return day.length || year.length ? between([weekday, rest], ', ') : between([month, weekday], ' ');
    }
    if (day.length && table.dot) day.push(literal(table.dot));
    const rest = between([day, month, year], (o.month === 'long' || table.names === 'pt') && table.of ? table.of : ' ');
    return between([weekday, rest], table.noComma ? ' ' : ', ');
  }
  function cjkDate(o, f, table, weekday) {
    const [y, m, d] = table.cjk, out = [];
    if (o.year) out.push(part('year', String(f.year)), literal(y));
    if (o.month) out.push(part('month', String(f.month + 1)), literal(m));
    if (o.day) out.push(part('day', String(f.day)), literal(d));
    return [...out, ...weekday];
  }
  const dayPeriods = [[6, 'at night'], [12, 'in the morning'], [13, 'noon'], [18, 'in the afternoon'], [21, 'in the evening'], [25, 'at night']];
  function timeParts(o, f, table) {
    const out = [];
    const push = (p) => out.push(...(out.length ? [literal(':')] : []), p);
    if (o.hour) {
      let h = f.hour;
      if (o.hourCycle === 'h12') h = h % 12 || 12;
      else if (o.hourCycle === 'h11') h %= 12;
      else if (o.hourCycle === 'h24') h = h || 24;
      push(part('hour', o.hour === '2-digit' ? two(h) : String(h)));
    }
    if (o.minute) push(part('minute', o.hour || o.second ? two(f.minute) : String(f.minute)));
    if (o.second) push(part('second', o.minute ? two(f.second) : String(f.second)));
    if (o.fractionalSecondDigits) out.push(...(out.length ? [literal('.')] : []), part('fractionalSecond', String(f.ms).padStart(3, '0').slice(0, o.fractionalSecondDigits)));
    if (o.hour && o.dayPeriod && o.hour12) out.push(literal(' '), part('dayPeriod', dayPeriods.find(([until]) => f.hour < until)[1]));
    else if (o.hour && (o.hourCycle === 'h12' || o.hourCycle === 'h11')) out.push(literal('\u202f'), part('dayPeriod', (table.am ?? ['AM', 'PM'])[f.hour < 12 ? 0 : 1]));
    return out;
  }
  function allDateParts(date, o) {
    const at = date === undefined ? NativeDate.now() : Number(date);
    if (!(Math.abs(at) <= 8.64e15)) throw new RangeError('Invalid time value');
    const table = lookup(dates, o.locale, dates['en-US']), f = local(Math.trunc(at), o.timeZone);
    const date_ = dateParts(o, f, table), time = timeParts(o, f, table);
    if (o.era) date_.push(literal(' '), part('era', f.era ? { long: 'Anno Domini', short: 'AD', narrow: 'A' }[o.era] : { long: 'Before Christ', short: 'BC', narrow: 'B' }[o.era]));
    const zone = o.timeZoneName ? [part('timeZoneName', zoneText(o.timeZone, f.at, o.timeZoneName))] : [];
    const late = between([time, zone], ' ');
    const at_ = (o.month === 'long' && (o.day || o.dateStyle)) && table.us;
    const onlyDay = o.weekday && !o.day && !o.month && !o.year;
    const joint = !time.length ? ', ' : at_ ? ' at ' : onlyDay ? ' ' : table.names && o.month === 'long' ? ' ' : (table.join ?? ', ');
    return between([date_, late], joint);
  }
  const spaced = (text) => text.replaceAll('\u202f', ' ');
  class DateTimeFormat {
    #options; #format;
    constructor(locales, options, required = 'any', defaults = 'date') { this.#options = dateOptions(locales, options, required, defaults); }
    get format() { return (this.#format ??= (date) => spaced(joined(allDateParts(date, this.#options)))); }
    formatToParts(date) { return allDateParts(date, this.#options); }
    formatRange(a, b) { return dateRange(this, a, b, this.#options); }
    resolvedOptions() {
      const { locale, calendar, numberingSystem, timeZone, hourCycle, hour12, dateStyle, timeStyle, ...rest } = this.#options;
      const parts = dateStyle || timeStyle ? {} : rest;
      return shown({ locale, calendar, numberingSystem, timeZone, hourCycle, hour12, ...parts, dateStyle, timeStyle });
    }
    static supportedLocalesOf(locales) { return supported(locales); }
  }
  // A range leaves out what both ends share, where the shared part is the month or the half of the day.
  function dateRange(f, a, b, o) {
    const x = f.formatToParts(a), y = f.formatToParts(b), text = (parts) => joined(parts), dash = '\u2009\u2013\u2009';
    if (text(x) === text(y)) return spaced(text(x));
    const get = (parts, type) => parts.find((p) => p.type === type)?.value;
    const alike = (...types) => types.every((t) => get(x, t) === get(y, t));
    const named = o.month && o.month !== 'numeric' && o.month !== '2-digit';
    if (o.hour && !o.day && alike('dayPeriod') && o.hour12) return text(x.slice(0, x.findIndex((p) => p.type === 'dayPeriod') - 1)) + dash + text(y);
    if (o.hour && o.day && alike('year', 'month', 'day')) {
      const cut = y.findIndex((p) => p.type === 'hour'), end = alike('dayPeriod') && o.hour12 ? x.findIndex((p) => p.type === 'dayPeriod') - 1 : x.length;
      return text(x.slice(0, end)) + dash + text(y.slice(cut));
    }
    if (named && !o.hour && !o.weekday && o.day && alike('year')) {
      const head = text(x.slice(0, x.findIndex((p) => p.type === 'day') + 1));
      return head + dash + (alike('month') ? text(y.slice(y.findIndex((p) => p.type === 'day'))) : text(y));
    }
    return text(x) + dash + text(y);
  }

  // --- plurals, lists, relative times, order --------------------------------------------------------------------

  class PluralRules {
    #options;
    constructor(locales, options) {
      const o = options === undefined ? {} : Object(options);
      this.#options = { ...numberOptions(locales, { ...o, style: undefined }), type: pick(o, 'type', ['cardinal', 'ordinal'], 'cardinal', 'PluralRules') };
    }
    select(value) {
      const n = Number(value), language = languageOf(this.#options.locale);
      if (this.#options.type === 'ordinal') {
        if (language !== 'en') return 'other';
        const tens = n % 100, ones = n % 10;
        return ones === 1 && tens !== 11 ? 'one' : ones === 2 && tens !== 12 ? 'two' : ones === 3 && tens !== 13 ? 'few' : 'other';
      }
      if (['ja', 'zh', 'ko'].includes(language)) return 'other';
      if (language === 'fr' || language === 'pt') return Math.abs(n) < 2 ? 'one' : 'other';
      const text = joined(numberParts(n, this.#options));
      return text === '1' || text === '-1' ? 'one' : 'other';
    }
    resolvedOptions() {
      const { locale, type, minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits } = this.#options;
      return { locale, type, minimumIntegerDigits, minimumFractionDigits, maximumFractionDigits, pluralCategories: type === 'ordinal' ? ['few', 'one', 'two', 'other'] : ['one', 'other'] };
    }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  const words = { conjunction: { en: 'and', de: 'und', fr: 'et', es: 'y', it: 'e', pt: 'e', nl: 'en', sv: 'och' }, disjunction: { en: 'or', de: 'oder', fr: 'ou', es: 'o', it: 'o', pt: 'ou', nl: 'of', sv: 'eller' } };
  class ListFormat {
    #options;
    constructor(locales, options) {
      const o = options === undefined ? {} : Object(options);
      this.#options = { locale: resolve(locales), type: pick(o, 'type', ['conjunction', 'disjunction', 'unit'], 'conjunction', 'ListFormat'), style: pick(o, 'style', ['long', 'short', 'narrow'], 'long', 'ListFormat') };
    }
    formatToParts(items) {
      const texts = [...items];
      for (const t of texts) if (typeof t !== 'string') throw new TypeError('Iterable yielded a non-String value');
      const { type, style, locale } = this.#options, language = languageOf(locale);
      const word = type === 'unit' ? '' : type === 'conjunction' && language === 'en' && style === 'short' ? '&' : type === 'conjunction' && language === 'en' && style === 'narrow' ? '' : (words[type][language] ?? words[type].en);
      const tight = type === 'unit' && style === 'narrow' ? ' ' : ', ', oxford = language === 'en' && locale !== 'en-GB' ? ',' : '';
      const last = word ? ` ${word} ` : tight;
      return texts.flatMap((t, i) => {
        const separator = i === 0 ? [] : [literal(i < texts.length - 1 ? tight : word ? (texts.length > 2 ? oxford : '') + last : tight)];
        return [...separator, part('element', t)];
      });
    }
    format(items) { return joined(this.formatToParts(items)); }
    resolvedOptions() { return { ...this.#options }; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  const spans = { second: ['sec.', 's'], minute: ['min.', 'm'], hour: ['hr.', 'h'], day: ['day', 'd'], week: ['wk.', 'w'], month: ['mo.', 'mo'], quarter: ['qtr.', 'q'], year: ['yr.', 'y'] };
  const near = { second: [, 'now', ,], minute: [, 'this minute', ,], hour: [, 'this hour', ,], day: ['yesterday', 'today', 'tomorrow'] };
  class RelativeTimeFormat {
    #options; #numbers;
    constructor(locales, options) {
      const o = options === undefined ? {} : Object(options);
      this.#options = { locale: resolve(locales), style: pick(o, 'style', ['long', 'short', 'narrow'], 'long', 'RelativeTimeFormat'), numeric: pick(o, 'numeric', ['always', 'auto'], 'always', 'RelativeTimeFormat'), numberingSystem: 'latn' };
      this.#numbers = new NumberFormat('en-US');
    }
    formatToParts(value, unit) {
      const u = String(unit).replace(/s$/, ''), n = Number(value), { style, numeric } = this.#options;
      if (!spans[u]) throw new RangeError(`Invalid unit argument for format() '${unit}'`);
      if (!Number.isFinite(n)) throw new RangeError('Invalid time value');
      const past = n < 0 || Object.is(n, -0);
      if (numeric === 'auto' && Math.abs(n) <= 1 && Number.isInteger(n)) {
        const named = near[u] ? near[u][n + 1] : `${['last', 'this', 'next'][n + 1]} ${style === 'long' ? u : { week: 'wk.', month: 'mo.', quarter: 'qtr.', year: 'yr.' }[u]}`;
        if (named) return [literal(named)];
      }
      const one = Math.abs(n) === 1, [short, slim] = spans[u];
      const word = style === 'narrow' ? slim : ' ' + (style === 'long' || u === 'day' ? u + (one ? '' : 's') : u === 'quarter' && !one ? 'qtrs.' : short);
      const parts = this.#numbers.formatToParts(Math.abs(n)).map((p) => ({ ...p, unit: u }));
      return past ? [...parts, literal(word + ' ago')] : [literal('in '), ...parts, literal(word)];
    }
    format(value, unit) { return joined(this.formatToParts(value, unit)); }
    resolvedOptions() { return { ...this.#options }; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  class Collator {
    #options; #compare;
    constructor(locales, options) {
      const o = options === undefined ? {} : Object(options), tag = canonicals(locales)[0] ?? 'en-US';
      this.#options = {
        locale: tag, usage: pick(o, 'usage', ['sort', 'search'], 'sort', 'Collator'), sensitivity: pick(o, 'sensitivity', ['base', 'accent', 'case', 'variant'], 'variant', 'Collator'),
        ignorePunctuation: !!o.ignorePunctuation, collation: 'default', numeric: o.numeric === undefined ? /-u(-.*)?-kn(-true)?($|-)/.test(String(locales)) : !!o.numeric, caseFirst: pick(o, 'caseFirst', ['upper', 'lower', 'false'], 'false', 'Collator'),
      };
    }
    get compare() {
      const { locale, sensitivity, numeric, caseFirst } = this.#options;
      return (this.#compare ??= (a, b) => {
        const x = String(a), y = String(b);
        if (caseFirst === 'upper' && x !== y && x.toLowerCase() === y.toLowerCase()) return x < y ? -1 : 1;
        return host.compare(x, y, locale, sensitivity, numeric);
      });
    }
    resolvedOptions() { return { ...this.#options }; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  const regions = { US: 'United States', GB: 'United Kingdom', DE: 'Germany', FR: 'France', ES: 'Spain', IT: 'Italy', JP: 'Japan', CN: 'China', IN: 'India', BR: 'Brazil', CA: 'Canada', AU: 'Australia', MX: 'Mexico', NL: 'Netherlands', SE: 'Sweden', CH: 'Switzerland', AT: 'Austria', PL: 'Poland', PT: 'Portugal', IE: 'Ireland', BE: 'Belgium', DK: 'Denmark', NO: 'Norway', FI: 'Finland', KR: 'South Korea', RU: 'Russia', ZA: 'South Africa', SG: 'Singapore', NZ: 'New Zealand', AR: 'Argentina', TR: 'Türkiye', UA: 'Ukraine', IL: 'Israel', AE: 'United Arab Emirates', HK: 'Hong Kong SAR China', TW: 'Taiwan' };
  const languages = { en: 'English', de: 'German', fr: 'French', es: 'Spanish', it: 'Italian', ja: 'Japanese', zh: 'Chinese', pt: 'Portuguese', ko: 'Korean', ru: 'Russian', ar: 'Arabic', nl: 'Dutch', sv: 'Swedish', pl: 'Polish', hi: 'Hindi', tr: 'Turkish', da: 'Danish', nb: 'Norwegian Bokmål', fi: 'Finnish', uk: 'Ukrainian', he: 'Hebrew', 'en-US': 'American English', 'en-GB': 'British English' };
  const titled = (text) => text.replace(/\b[a-z]/g, (c) => c.toUpperCase());
  class DisplayNames {
    #options;
    constructor(locales, options) {
      if (options?.type === undefined) throw new TypeError('Required option "type" must not be undefined');
      this.#options = { locale: resolve(locales), style: options.style ?? 'long', type: String(options.type), fallback: options.fallback ?? 'code' };
    }
    of(code) {
      const text = String(code), { type, fallback } = this.#options;
      const name = type === 'region' ? regions[text.toUpperCase()] : type === 'language' ? languages[canonical(text)] : type === 'currency' && currencyNames[text.toUpperCase()] ? titled(currencyNames[text.toUpperCase()]) : undefined;
      return name ?? (fallback === 'none' ? undefined : text);
    }
    resolvedOptions() { return { ...this.#options }; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  const cluster = '\\r\\n|\\p{Regional_Indicator}{2}|(?:\\p{Extended_Pictographic}|\\p{Emoji_Presentation})[\\p{M}\\uFE0F\\u{1F3FB}-\\u{1F3FF}\\u{E0020}-\\u{E007F}]*(?:\\u200D\\p{Extended_Pictographic}[\\p{M}\\uFE0F\\u{1F3FB}-\\u{1F3FF}]*)*|.[\\p{M}\\u200D\\uFE0F\\u20E3]*';
  const splitters = { grapheme: cluster, word: "[\\p{L}\\p{N}\\p{M}_]+(?:['\u2019.][\\p{L}\\p{N}\\p{M}_]+)*|[ \\t]+|" + cluster, sentence: '[^.!?\\n]*[.!?]+["\')\\]]*\\s*|[^.!?\\n]+\\n?|\\n' };
  const wordlike = new RegExp('^[\\p{L}\\p{N}]', 'u');
  class Segmenter {
    #options;
    constructor(locales, options) {
      const o = options === undefined ? {} : Object(options);
      this.#options = { locale: resolve(locales), granularity: pick(o, 'granularity', ['grapheme', 'word', 'sentence'], 'grapheme', 'Segmenter') };
    }
    segment(text) {
      const input = String(text), { granularity } = this.#options;
      const all = [...input.matchAll(new RegExp(splitters[granularity], 'gsu'))].map((m) => ({ segment: m[0], index: m.index, input, ...(granularity === 'word' && { isWordLike: wordlike.test(m[0]) }) }));
      return { [Symbol.iterator]: () => all[Symbol.iterator](), containing: (at = 0) => all.find((s) => at >= s.index && at < s.index + s.segment.length) };
    }
    resolvedOptions() { return { ...this.#options }; }
    static supportedLocalesOf(locales) { return supported(locales); }
  }

  const collators = new Map();
  function compare(a, b, locales, options) {
    const key = options === undefined && (locales === undefined || typeof locales === 'string') ? String(locales) : undefined;
    let c = key !== undefined ? collators.get(key) : undefined;
    if (!c) {
      c = new Collator(locales, options).compare;
      if (key !== undefined) collators.set(key, c);
    }
    return c(a, b);
  }
  // Called without new too, as code does with NumberFormat and DateTimeFormat.
  const callable = (C) => {
    const wrapped = function (...args) { return Reflect.construct(C, args.slice(0, 2), new.target ?? wrapped); };
    Object.defineProperty(wrapped, 'name', { value: C.name, configurable: true });
    Object.defineProperty(wrapped, 'prototype', { value: C.prototype, writable: false });
    Object.defineProperty(C.prototype, 'constructor', { value: wrapped, writable: true, configurable: true });
    wrapped.supportedLocalesOf = C.supportedLocalesOf;
    return wrapped;
  };
  const Intl = {};
  const add = (name, value) => Object.defineProperty(Intl, name, { value, writable: true, configurable: true });
  for (const C of [NumberFormat, DateTimeFormat, Collator]) {
    tag(C);
    add(C.name, callable(C));
  }
  for (const C of [PluralRules, ListFormat, RelativeTimeFormat, DisplayNames, Segmenter, Locale]) {
    tag(C);
    add(C.name, C);
  }
  add('getCanonicalLocales', (locales) => [...new Set(canonicals(locales))]);
  add('supportedValuesOf', (key) => {
    const known = { currency: Object.keys({ ...symbols, ...narrowSymbols, ...currencyNames }).sort(), unit: Object.keys(units).sort(), timeZone: Object.keys({ ...zones, ...families }).sort(), calendar: ['gregory'], numberingSystem: ['latn'], collation: ['default'] }[key];
    if (!known) throw new RangeError('Invalid key : ' + key);
    return known;
  });
  Object.defineProperty(Intl, Symbol.toStringTag, { value: 'Intl', configurable: true });
  const plainNumbers = new Map();
  return {
    Intl, compare,
    formatNumber(value, locales, options) {
      if (options !== undefined || (locales !== undefined && typeof locales !== 'string')) return joined(numberParts(value, numberOptions(locales, options)));
      if (!plainNumbers.has(locales)) plainNumbers.set(locales, numberOptions(locales));
      return joined(numberParts(value, plainNumbers.get(locales)));
    },
    formatDate: (date, locales, options, required, defaults) => spaced(joined(allDateParts(date, dateOptions(locales, options, required, defaults)))),
  };
});
