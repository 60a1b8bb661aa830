import { readPickle } from './read-pickle.ts'
import type { TorchContent } from './state-dict.ts'
import { readZip } from './read-zip.ts'

/**
 * The content of a file of torch since version 1.6: a zip archive with one folder that holds the
 * pickle `data.pkl` and the storages `data/<key>`.
 */
export function readZipContent(bytes: Uint8Array): TorchContent {
  const entries = readZip(bytes)
  const pickle = [...entries.keys()].find((name) => /^[^/]+\/data\.pkl$/u.test(name))
  if (pickle === undefined) throw new Error('it has no data.pkl')
  const folder = pickle.slice(0, -'data.pkl'.length)
  const order = entries.get(`${folder}byteorder`)
  if (order && Buffer.from(order).toString() !== 'little')
    throw new Error('it was not written on a little-endian machine')
  const { value } = readPickle(entries.get(pickle) ?? new Uint8Array())
  return { value, bytesOf: (key) => entries.get(`${folder}data/${key}`) }
}
