(function (global, kit) { 'use strict'; return {}; });
