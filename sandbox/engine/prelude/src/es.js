import 'core-js/modules/es.array.from-async.js';
import 'core-js/modules/es.math.sum-precise.js';
import 'core-js/modules/es.regexp.escape.js';
import 'core-js/modules/es.string.is-well-formed.js';
import 'core-js/modules/es.string.to-well-formed.js';
import 'core-js/modules/es.map.get-or-insert.js';
import 'core-js/modules/es.map.get-or-insert-computed.js';
