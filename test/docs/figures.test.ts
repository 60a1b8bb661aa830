import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { publishedManifest } from '../../deploy/package/manifest.ts'
import { pageFiles, rootDir } from '../../docs/build/contents.ts'
import { measuredCosts } from '../../src/cli/size/unit-costs.ts'
import lockFile from '../../package-lock.json' with { type: 'json' }
import packageJson from '../../package.json' with { type: 'json' }

const source = 'docs/benchmarks.md'

/**
 * How pages state a figure of the table in docs/benchmarks.md, by the name of its row: the group
 * matches the value. A sentence that contains such a phrase must contain the value of the table.
 */
const phrases: Readonly<Record<string, readonly RegExp[]>> = {
  '`svc.detect`, one face, two cores': [
    /`svc\.detect`, one face, 1280×720, over HTTP, two cores \| (\d[\d.]* images\/s)/gu,
    /`svc\.detect` analyze[sd] (\d[\d. to]* images) of one face per second/gu,
  ],
  '`svc.detect`, three to five faces, two cores': [
    /three to five faces, 1920 px, two cores \| (\d[\d.]* images\/s)/gu,
  ],
  '`svc.identify`, one face, two cores': [
    /detection and template, one face, two cores \| (\d[\d.]* images\/s)/gu,
  ],
  'images per second and core without a template': [
    /(\d[\d–]*) images per second without a template/gu,
    /with a template, (\d[\d–]*) without/gu,
    /`svc\.detect` per second and core[^|]*\| (\d[\d–]*)/gu,
  ],
  'images per second and core with a template': [
    /(\d[\d–]*) images per second and core/gu,
    /without a template, and (\d[\d–]*) with one/gu,
    /[Oo]ne core analyzes about (\d[\d–]*) images per second(?! without)/gu,
    /images per second divided by (\d[\d–]*)/gu,
  ],
  'search of a million faces, one thread': [
    /(\d[\d.]* ms) (?:per search on one thread|among a million)/gu,
  ],
  'search of ten million faces, two threads': [
    /(\d[\d.]* ms) (?:per search of|among) ten million/gu,
    /[Tt]en million (?:templates|faces) (?:are searched )?in (\d[\d.]* ms)/gu,
    /search(?: among)? ten million faces (?:in|takes) (\d[\d.]* ms)/gu,
  ],
  'load of a million faces from pages': [
    /(?:\ba|\bone) million (?:templates|faces)[^.;|]{0,40}? in (\d[\d.]*(?: to \d[\d.]*)? s)\b/giu,
    /[Ll]oading a million faces at startup takes (\d[\d.]* s)/gu,
    /(\d[\d.]*(?: to \d[\d.]*)? s) (?:more )?for a million (?:templates|faces)/giu,
    /a million faces,? [^.;|]{0,20}take (?:about )?(\d[\d.]* s)/giu,
  ],
  'load of a million faces without pages': [
    /at the first start or after a key rotation, it takes (\d[\d.]* s)/gu,
    /(\d[\d.]* s) at the first start/gu,
  ],
  'load of ten million faces from pages': [/ten million in (\d[\d.]* s)\b/gu],
  'gated calls, SQLite': [/SQLite (?:processes )?(\d[\d,.]* calls\/s)/gu],
  'gated calls, PostgreSQL': [/PostgreSQL (?:processes )?(\d[\d,.]* calls\/s)/gu],
  'memory of a subject of 256 values, with any number of faces': [
    /(\d[\d.]* kB) per subject at 256 dimensions/gu,
    /one subject, 256 values, with any number of faces \| (\d[\d.]* kB)/gu,
  ],
  'disk of a subject with one face, SQLite': [
    /subject with one face takes (\d[\d.]* kB) in SQLite/gu,
    /per subject with one face, SQLite \| (\d[\d.]* kB)/gu,
  ],
  'disk of a subject with one face, PostgreSQL': [/and (\d[\d.]* kB) in PostgreSQL/gu],
  'disk of a logged call': [/(\d[\d.]* kB) (?:per|for each) logged call/gu],
  'found in a gallery of 100, built-in models': [
    /about a hundred people[^.]*\((\d+ %) are found/gu,
    /(\d+ %)(?: are found)? among 100 people/gu,
  ],
}

const read = (file: string): string => readFileSync(path.join(rootDir, file), 'utf8')

/** Returns the rows of the table of key figures: name → value. */
function readFigures(page: string): ReadonlyMap<string, string> {
  const section = page.split('## Key figures')[1]?.split('\n## ')[0] ?? ''
  const rows = [...section.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gmu)].slice(1)
  return new Map(rows.map(([, name = '', value = '']) => [name, value]))
}

/** Returns each statement of a page that differs from the table, and the names of all statements. */
function compare(figures: ReadonlyMap<string, string>, file: string, text: string) {
  const differences: string[] = []
  const stated: string[] = []
  for (const [name, patterns] of Object.entries(phrases))
    for (const pattern of patterns)
      for (const [phrase, value] of text.matchAll(pattern)) {
        stated.push(name)
        if (value !== figures.get(name))
          differences.push(`${file}: "${phrase}", but ${name} is ${figures.get(name)}`)
      }
  return { differences, stated }
}

test('Every page states the figures of docs/benchmarks.md', (t) => {
  const figures = readFigures(read(source))
  assert.deepEqual(
    Object.keys(phrases),
    [...figures.keys()].filter((name) => phrases[name]),
  )
  const compared = pageFiles.map((file) => compare(figures, file, read(file)))
  assert.deepEqual(
    compared.flatMap(({ differences }) => differences),
    [],
  )
  const stated = compared.flatMap((page) => page.stated)
  const unstated = Object.keys(phrases).filter((name) => !stated.includes(name))
  assert.deepEqual(unstated, [], 'the phrases of these figures match no page')
  t.diagnostic(`${stated.length} statements of ${new Set(stated).size} figures`)
})

/** The measurement that a key figure rounds: the page, and a group that matches the value. */
const measurements: Readonly<Record<string, readonly [file: string, pattern: RegExp]>> = {
  '`svc.detect`, one face, two cores': [source, /one face, 1280×720 \| facegate \| ([\d.]+) \|/u],
  '`svc.detect`, three to five faces, two cores': [source, /1920 px \| facegate \| ([\d.]+) \|/u],
  '`svc.identify`, one face, two cores': [
    source,
    /`svc\.identify` in an empty gallery \| ([\d.]+) \|/u,
  ],
  'search of a million faces, one thread': [
    'docs/recognition/search.md',
    /^1,000,000 templates[^#]*?facegate, 1 thread \| ([\d.]+) \|/mu,
  ],
  'search of ten million faces, two threads': [
    'docs/recognition/search.md',
    /^10,000,000 templates[^#]*?facegate, 2 threads \| ([\d.]+) \|/mu,
  ],
  'found in a gallery of 100, built-in models': [
    'docs/accuracy.md',
    /found, built-in models \| one \| ([\d.]+) %/u,
  ],
}

test('The key figures round the measurements of the pages and the unit costs', () => {
  const figures = readFigures(read(source))
  for (const [name, [file, pattern]] of Object.entries(measurements)) {
    const measured = Number(pattern.exec(read(file))?.[1])
    assert.equal(Math.round(measured), Number.parseInt(figures.get(name) ?? '', 10), name)
  }
  const { searchMsPerMillion, loggedCallBytes } = measuredCosts
  const searchMs = figures.get('search of a million faces, one thread')
  assert.equal(searchMs, `${Math.round(searchMsPerMillion)} ms`)
  assert.equal(figures.get('disk of a logged call'), `${loggedCallBytes / 1000} kB`)
})

test('Another value of a figure is reported', () => {
  const figures = readFigures(read(source))
  for (const sentence of [
    'The time without service is that of one start, and 13 to 16 s more for a million faces.',
    'With two cores, a million faces take about 75 s more there.',
    'A million templates load from pages in 5.4 s on two cores, ten million in 52 s.',
    'One core analyzes about 20 images per second.',
    'About 30–40 images per second and core with a template, 50 without.',
    'SQLite 2,689 calls/s; PostgreSQL 2,303 calls/s',
    'With the built-in models a gallery has about a hundred people (91 % are found).',
  ])
    assert.equal(compare(figures, 'docs/x.md', sentence).differences.length, 1, sentence)
  const right = 'A million templates load from pages in 2.8 s on two cores, ten million in 52 s.'
  assert.deepEqual(compare(figures, 'docs/x.md', right).differences, [])
})

test('Every page states the Node versions of package.json and of the npm package', () => {
  assert.equal(packageJson.engines.node, '>=20')
  assert.equal(publishedManifest(packageJson, lockFile).engines.node, '^22.18.0 || >=24')
  assert.match(read('bin/facegate.js'), /minor >= 18[^]*facegate needs Node 22\.18 or 24`/u)
  for (const file of pageFiles)
    for (const [phrase, statement] of read(file).matchAll(
      /(?:clone|package|facegate|you)`? needs? Node ([^,;|]*)/giu,
    ))
      assert.match(statement ?? '', /^(?:20 or later|22\.18 or 24)\b/u, `${file}: ${phrase}`)
})
