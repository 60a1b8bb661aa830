import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import apiTexts from '../../src/actions/schemas/field-texts.json' with { type: 'json' }
import consoleTexts from '../../src/console/field-texts.json' with { type: 'json' }

const tables = [
  { of: 'the API', texts: apiTexts, files: 'src/{actions,http/routes}/**/*.ts' },
  { of: 'the console', texts: consoleTexts, files: 'src/console/**/*.ts' },
]

for (const { of, texts, files } of tables)
  test(`a schema of ${of} uses each text about a field`, () => {
    const source = globSync(files)
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
