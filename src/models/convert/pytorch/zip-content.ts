import { readPickle } from './read-pickle.ts'
import { readZip } from './read-zip.ts'
import type { TorchContent } from './tensor.ts'

/**
 * Reads a file of PyTorch since version 1.6: a zip archive with one folder that contains the pickle
 * `data.pkl` and the storages `data/<key>`.
 */
export function readZipContent(bytes: Uint8Array): TorchContent {
  const entries = readZip(bytes)
  const pickleName = [...entries.keys()].find((name) => /^[^/]+\/data\.pkl$/u.test(name))
  if (pickleName === undefined) throw new Error('it has no data.pkl')
  const folder = pickleName.slice(0, -'data.pkl'.length)
  const byteOrder = entries.get(`${folder}byteorder`)
  if (byteOrder && Buffer.from(byteOrder).toString() !== 'little')
    throw new Error('it was not written on a little-endian machine')
  const { value } = readPickle(entries.get(pickleName) ?? new Uint8Array())
  return { value, bytesOf: (key) => entries.get(`${folder}data/${key}`) }
}
