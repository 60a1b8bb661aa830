import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { test } from 'node:test'
import { openStore } from '../../../src/store/open-store.ts'
import {
  findOutdatedFaces,
  findTemplatesOfSubjects,
} from '../../../src/store/gallery/densities/outdated-templates.ts'
import type { ReadTx } from '../../../src/store/tx.ts'

test('No query of an update reads templates of other subjects, or before its page', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-plans-'))
  const store = await openStore(dataDir)
  const connection = new DatabaseSync(path.join(dataDir, 'facegate.db'))
  const plans: string[] = []
  const reading: ReadTx = {
    build: store.db,
    run: async (query) => {
      const { sql, parameters } = query.compile()
      const explain = connection.prepare(`explain query plan ${sql}`)
      const rows = explain.all(...(parameters as SQLInputValue[]))
      plans.push(...rows.map(({ detail }) => String(detail)))
      return []
    },
  }
  await findOutdatedFaces(reading, { modelId: 'net@1', afterFaceId: 'f', limit: 64 })
  await findTemplatesOfSubjects(reading, ['s', 't'], ['net@1', 'net@2'])
  const ofTemplates = plans.filter((plan) => /^(?:SCAN|SEARCH) templates\b/u.test(plan))
  assert.equal(ofTemplates.length, 2, plans.join('\n'))
  assert.match(ofTemplates[0] ?? '', /\(modelId=\? AND faceId>\?\)/u)
  assert.match(ofTemplates[1] ?? '', /\(faceId=\?/u)
  connection.close()
  await store.close()
  await rm(dataDir, { recursive: true, force: true })
})
