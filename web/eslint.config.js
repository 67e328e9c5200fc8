// What a compiler does not see: loose equality, names nobody uses, text that
// becomes markup. Rules that need types are left out: they took 51 s of
// processor time against 23 s, and found no promise that nobody waits for.
import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'src/api/wire/'] },
  js.configs.recommended,
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser, ...globals.node } },
    rules: {
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'prefer-const': ['error', { destructuring: 'all' }],
      'no-var': 'error',
      'object-shorthand': 'error',
      'no-else-return': 'error',
      'no-undef': 'off', // the compiler knows, and knows types too
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-expressions': ['error', { allowShortCircuit: true, allowTernary: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'max-len': [
        'error',
        {
          code: 140,
          ignoreUrls: true,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
        },
      ],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
    rules: {
      'svelte/prefer-const': ['error', { destructuring: 'all' }],
      'prefer-const': 'off',
      // Without a key a list is kept by place, which is right for lists whose
      // items have no name; a key that two items share stops the page.
      'svelte/require-each-key': 'off',
      // It takes every Map and Set that a function fills and forgets for state.
      'svelte/prefer-svelte-reactivity': 'off',
      // A space at the beginning of an element has to be written so.
      'svelte/no-useless-mustaches': 'off',
      'max-len': 'off', // text that Prettier may not break without changing what is shown
    },
  },
);
