import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { readConfig, settings } from '../../src/config.ts'
import { rootDir } from '../support/paths.ts'

/** A setting that is valid only together with another one. */
const required: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SEARCH: { DATABASE_URL: 'postgres://db.example.org/facegate' },
}

/** Returns the assignments `NAME=value` of settings in a text, without the end of a sentence. */
function assignmentsOf(text: string): [name: string, value: string][] {
  const found = text.matchAll(/\b([A-Z][A-Z0-9_]+)=([^\s`'"|)]+)/gu)
  return [...found].flatMap(([, name = '', value = '']) =>
    name in settings ? [[name, value.replace(/[.,;]$/u, '')]] : [],
  )
}

/** Returns why the service would not start with this setting; undefined if it would. */
function problemOf(name: string, value: string): string | undefined {
  try {
    readConfig({ ...required[name], [name]: value })
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

test('The service starts with every value of a setting that a document states', () => {
  const files = [...globSync('docs/**/*.md', { cwd: rootDir }), 'README.md']
  const problems: string[] = []
  let count = 0
  for (const file of files)
    for (const [name, value] of assignmentsOf(readFileSync(path.join(rootDir, file), 'utf8'))) {
      count++
      const problem = problemOf(name, value)
      if (problem !== undefined) problems.push(`${file}: ${name}=${value}: ${problem}`)
    }
  assert.ok(count > 50, `${count} assignments`)
  assert.deepEqual(problems, [])
})

test('An invalid value of a setting in a document is reported', () => {
  assert.deepEqual(assignmentsOf('Set `TRUST_PROXY=127.0.0.1`, and KEY=x.'), [
    ['TRUST_PROXY', '127.0.0.1'],
  ])
  assert.match(problemOf('TRUST_PROXY', '127.0.0.1') ?? '', /TRUST_PROXY: must be a whole number/u)
})
