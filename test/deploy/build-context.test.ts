import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { pageFiles } from '../../docs/build/contents.ts'
import { rootDir } from '../support/paths.ts'

test('The builder of the image receives every page of the site', () => {
  const rules = readFileSync(path.join(rootDir, '.dockerignore'), 'utf8')
    .split('\n')
    .filter(Boolean)
  // A later rule replaces an earlier one, as in Docker. No rule for pages has another pattern.
  const isSent = (file: string): boolean =>
    rules.reduce((isIncluded, rule) => {
      const pattern = rule.replace(/^!/u, '').replace(/\/?\*$/u, '')
      const matches = pattern === '' || file === pattern || file.startsWith(`${pattern}/`)
      return matches ? rule.startsWith('!') : isIncluded
    }, true)
  assert.deepEqual(
    pageFiles.filter((file) => !isSent(file)),
    [],
  )
  assert.ok(!isSent('test/run.ts'))
})
