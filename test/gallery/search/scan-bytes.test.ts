import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { assembleKernel, kernelOutput, kernelSources } from '../../../eval/assemble-scan-kernel.ts'

for (const source of kernelSources)
  test(`The committed bytes of ${source.text.split('/').at(-1)} match its text`, async (t) => {
    const committed = await readFile(kernelOutput(source), 'utf8')
    const assembled = await assembleKernel(source).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
      return undefined
    })
    if (assembled === undefined)
      t.skip('SKIPPED: wabt is not installed, the bytes were not compared')
    else assert.equal(committed, assembled)
  })
