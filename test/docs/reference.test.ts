import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { allActions } from '../../src/actions/all-actions.ts'
import { toParamsSchema } from '../../src/actions/schemas/params-schema.ts'
import { settings } from '../../src/config.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { rootDir } from '../support/paths.ts'

const read = (file: string) => readFile(path.join(rootDir, file), 'utf8')

test('docs/configuration.md lists every setting once, with its default', async () => {
  const text = await read('docs/configuration.md')
  const rows = text.split('\n').filter((line) => line.startsWith('| `'))
  assert.equal(rows.length, Object.keys(settings).length)
  for (const [name, { defaultValue }] of Object.entries(settings)) {
    const row = rows.find((line) => line.startsWith(`| \`${name}\` |`))
    assert.ok(row, name)
    // The number of cores differs between machines.
    const shown = name === 'VISION_WORKERS' ? 'one per core' : defaultValue && `\`${defaultValue}\``
    assert.ok(row.startsWith(`| \`${name}\` | ${shown} |`), row)
  }
})

test('The README, the tutorial and the FAQ state the starter credit of the settings', async () => {
  const { STARTER_CREDIT_MICROS: credit, UNIT_PRICE_MICROS: unitPrice } = settings
  const units = Number(credit.defaultValue) / Number(unitPrice.defaultValue)
  const statement = `${units.toLocaleString('en')} price units`
  for (const file of ['README.md', 'docs/tutorial.md', 'docs/faq.md'])
    assert.ok((await read(file)).includes(statement), `${file}: ${statement}`)
})

test('The README has at most 140 lines', async () => {
  assert.ok((await read('README.md')).split('\n').length <= 141)
})

test('Every file of the examples has at most 100 lines', async () => {
  const files = globSync('examples/*/*.{mjs,js,html,md}', { cwd: rootDir })
  assert.ok(files.length >= 11, 'the files are found')
  for (const file of files) assert.ok((await read(file)).split('\n').length <= 101, file)
})

test('docs/dependencies.md lists every dependency', async () => {
  const text = await read('docs/dependencies.md')
  for (const name of Object.keys({ ...packageJson.dependencies, ...packageJson.devDependencies }))
    if (!name.startsWith('@types/')) assert.ok(text.includes(`\`${name}\``), name)
})

test('docs/reference/actions.md contains every parameter of every action', async () => {
  const sections = (await read('docs/reference/actions.md')).split('\n## ')
  for (const action of allActions) {
    const section = sections.find((text) => text.startsWith(`\`${action.name}\`\n`)) ?? ''
    const names = Object.keys(toParamsSchema(action).properties)
    assert.ok(names.length > 0)
    for (const name of names) assert.ok(section.includes(`| \`${name}\``), name)
  }
})
