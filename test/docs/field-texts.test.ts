import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import texts from '../../src/actions/schemas/field-texts.json' with { type: 'json' }

test('a schema uses each text about a field', () => {
  const source = globSync('src/{actions,http/routes}/**/*.ts')
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
  const used = new Set([...source.matchAll(/\btexts\.(\w+\.\w+)/gu)].map(([, name]) => name))
  const names = Object.entries(texts).flatMap(([section, fields]) =>
    Object.keys(fields).map((field) => `${section}.${field}`),
  )
  assert.deepEqual(
    names.filter((name) => !used.has(name)),
    [],
  )
})
