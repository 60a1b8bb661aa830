import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { assembleKernel, kernelFolders } from '../../../deploy/assemble-kernels.ts'

for (const name of ['scan', 'quantise', 'density', 'dot', 'image'] as const)
  test(`The committed bytes of the ${name} kernel match its text`, async (t) => {
    const committed = await readFile(`${kernelFolders[name]}/${name}.wasm`)
    const assembled = await assembleKernel(name).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'MODULE_NOT_FOUND') throw error
      return undefined
    })
    if (assembled === undefined)
      t.skip('SKIPPED: wabt is not installed, the bytes were not compared')
    else assert.deepEqual(committed, Buffer.from(assembled))
  })
