import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { settings } from '../../src/config.ts'
import { docsPage } from '../../src/http/openapi/docs-page.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { rootDir } from '../support/paths.ts'

const read = (file: string) => readFile(path.join(rootDir, file), 'utf8')

test('every setting stands in docs/configuration.md as the program knows it', async () => {
  const text = await read('docs/configuration.md')
  const documented = text.split('\n').filter((line) => line.startsWith('| `'))
  const known = Object.entries(settings).map(([name, { fallback, says }]) => {
    // The number of cores differs from machine to machine.
    const value = name === 'VISION_WORKERS' ? 'cores' : fallback === '' ? '' : `\`${fallback}\``
    return `| \`${name}\` | ${value} | ${says} |`
  })
  assert.deepEqual(documented, known)
})

test('docs/dependencies.md lists every dependency', async () => {
  const text = await read('docs/dependencies.md')
  for (const name of Object.keys({ ...packageJson.dependencies, ...packageJson.devDependencies }))
    if (!name.startsWith('@types/')) assert.ok(text.includes(`\`${name}\``), name)
})

test('The documentation page lists the parameters of each action', () => {
  const page = docsPage('test')
  for (const name of ['maxFaces', 'duplicateThreshold', 'maxCandidates', 'removeFaceIds'])
    assert.ok(page.includes(`<code>${name}</code>`), name)
})
