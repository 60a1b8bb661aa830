import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { assembleScanKernel } from '../../../eval/assemble-scan-kernel.ts'

test('The committed bytes of the scan kernel match its text', async (t) => {
  const committed = await readFile('src/gallery/search/scan/scan-bytes.ts', 'utf8')
  const assembled = await assembleScanKernel().catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    return undefined
  })
  if (assembled === undefined) t.skip('SKIPPED: wabt is not installed, the bytes were not compared')
  else assert.equal(committed, assembled)
})
