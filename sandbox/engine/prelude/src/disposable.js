import 'core-js/modules/es.suppressed-error.constructor.js';
import 'core-js/modules/es.disposable-stack.constructor.js';
import 'core-js/modules/es.async-disposable-stack.constructor.js';
