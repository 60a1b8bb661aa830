import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { rootDir } from '../support/paths.ts'

const testCount = 69

/** The rows of the test catalogue: number → the cell that names the files or the reason. */
function readCatalogue(text: string): Map<number, string> {
  const rows = text.matchAll(/^\| T(\d+) \| [^|]+ \| ([^|]+) \|$/gmu)
  return new Map([...rows].map(([, number, place = '']) => [Number(number), place]))
}

/** The paths between backquotes: words with a slash, from the root of the project. */
function pathsOf(place: string): string[] {
  return [...place.matchAll(/`([^`\s]+\/[^`\s]+)`/gu)].map(([, file = '']) => file)
}

test('The catalogue in test/README.md has every test, with existing files or a reason', () => {
  const catalogue = readCatalogue(readFileSync(path.join(rootDir, 'test/README.md'), 'utf8'))
  const numbers = Array.from({ length: testCount }, (_, index) => index + 1)
  assert.deepEqual([...catalogue.keys()], numbers)
  for (const [number, place] of catalogue) {
    const files = pathsOf(place)
    assert.ok(files.length > 0 || place.startsWith('left out'), `T${number} has no file or reason`)
    for (const file of files)
      assert.ok(existsSync(path.join(rootDir, file)), `T${number} names ${file}, which is missing`)
  }
})

test('A missing row and the paths of a row are read', () => {
  assert.deepEqual([...readCatalogue('| T1 | a | b |\n| T3 | a | left out: c |').keys()], [1, 3])
  assert.deepEqual(pathsOf('`test/a.ts`, `npm run b` and `CONNECTIONS_MAX`'), ['test/a.ts'])
})
