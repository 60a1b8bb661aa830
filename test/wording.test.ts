import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

type WordingRule = { readonly pattern: RegExp; readonly advice: string }

/**
 * Words that mark mannered prose. Each has a plain replacement, so there are no exceptions: neither
 * in documents, comments, console texts, CLI texts and test titles, nor in names.
 */
const rules: readonly WordingRule[] = [
  {
    pattern: /\b(?:whoever|whomever|whom|nobody|somebody|anybody)\b/iu,
    advice: 'name the caller, the server, the row or the file',
  },
  { pattern: /\b(?:tells?|telling|told)\b/iu, advice: 'write: return, report, send, log' },
  { pattern: /\b(?:says|said)\b/iu, advice: 'write: states, contains, returns, reads' },
  { pattern: /\b(?:knows|asks)\b/iu, advice: 'write: has, stores, requests, calls' },
  {
    pattern: /\blook(?:s|ed|ing)? (?:at|after|with)\b/iu,
    advice: 'write: analyze, read, maintain, use',
  },
  { pattern: /\bhanded\b/iu, advice: 'write: receives, gets, is passed' },
  { pattern: /\bwhat (?:becomes|became|comes|came) of\b/iu, advice: 'write: the result of' },
  { pattern: /\bstands? (?:in|there|at)\b/iu, advice: 'write: is in' },
  { pattern: /\bfor ever\b/iu, advice: 'write: permanently' },
  { pattern: /\bbelongs? into\b/iu, advice: 'write: belongs in, goes to' },
  { pattern: /\bshall\b/iu, advice: 'write: must, does, will' },
  { pattern: /\banew\b/iu, advice: 'write: again' },
  { pattern: /\bto be had\b/iu, advice: 'write: available' },
  { pattern: /\bso many\b/iu, advice: 'give the number or its name' },
  { pattern: /\bof (?:its|their|one's|his) own\b/iu, advice: 'write: a separate, a dedicated' },
  { pattern: /\bgoes by\b/iu, advice: 'write: uses' },
  { pattern: /\bcarr(?:y|ies|ied) off\b/iu, advice: 'write: takes, copies' },
  {
    pattern: /\b(?:twins?|strangers?|the books)\b/iu,
    advice: 'write: in-flight call, unauthenticated caller, ledger',
  },
  {
    pattern: /\bwho (?:comes|came|calls|asks|waits|holds|sends|reads)\b/iu,
    advice: 'write: a caller that, the call that, a user with',
  },
  {
    pattern:
      /\b(?:in an? (?:earlier|former|previous) version|that was not kept|the former release)\b/iu,
    advice: 'describe the present version',
  },
]

/** Returns the rules that a line breaks. Names are read as the words that they are made of. */
function wordingProblems(line: string): string[] {
  const words = line.replaceAll(/_|(?<=[a-z])(?=[A-Z])/gu, ' ')
  return rules.flatMap(({ pattern, advice }) => {
    const found = pattern.exec(words)
    return found ? [`"${found[0]}": ${advice}`] : []
  })
}

const extensions = 'ts,tsx,js,mjs,wat,md,sh,yaml,yml,css,html,conf'
const roots = [
  'src',
  'web',
  'client',
  'docs',
  'examples',
  'deploy',
  'bench',
  'soak',
  'fuzz',
  'eval',
  'test',
]
const ignored = ['**/node_modules/**', '**/dist/**', '**/output/**', 'test/wording.test.ts']

function readTexts(): Map<string, string> {
  const nested = roots.flatMap((root) => globSync(`${root}/**/*.{${extensions}}`))
  const files = [...nested, ...globSync('src/**/*-texts.json'), ...globSync('*.md')]
    .map((file) => file.split(path.sep).join('/'))
    .filter((file) => !ignored.some((pattern) => path.posix.matchesGlob(file, pattern)))
  assert.ok(files.length > 500, 'the files are found')
  return new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
}

test('Documents, comments, texts and names use plain technical English', () => {
  const problems = [...readTexts()].flatMap(([file, text]) =>
    text
      .split('\n')
      .flatMap((line, index) =>
        wordingProblems(line).map((problem) => `${file}:${index + 1} ${problem}`),
      ),
  )
  assert.deepEqual(problems, [])
})

test('A planted sentence with mannered wording is found', () => {
  const planted = [
    'What each of its rules means stands in gate.md.',
    'Deletes whom nobody met for so many days.',
    'The server looks with them after the restart.',
    'A late answer is carried off.',
    '// tells the metrics of every call',
    "'create index keys_by_whom on keys (projectId)',",
    'create function "tellServers"() returns trigger',
    'In an earlier version, the load took 75 s.',
  ]
  for (const sentence of planted) assert.notEqual(wordingProblems(sentence).length, 0, sentence)
  const plain = [
    'Returns the stored response of an earlier request with the same id.',
    'A late result is discarded (503).',
  ]
  for (const sentence of plain) assert.deepEqual(wordingProblems(sentence), [], sentence)
})
