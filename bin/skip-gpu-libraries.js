// npm runs this before the install script of onnxruntime-node. On Linux x64 that script downloads GPU
// libraries of several hundred megabytes from another host, and fails without access to it. The service
// computes on the CPU. The script downloads nothing if the files exist, so this creates them empty.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)
const isRequested = 'ONNXRUNTIME_NODE_INSTALL' in process.env
if (!isRequested && process.platform === 'linux' && process.arch === 'x64') skipGpuLibraries()

function skipGpuLibraries() {
  const runtime = path.dirname(require.resolve('onnxruntime-node/package.json'))
  const { manifests } = require(path.join(runtime, 'script/install-metadata.js'))
  const libraries = path.join(runtime, 'bin/napi-v6/linux/x64')
  for (const name of Object.keys(manifests['linux/x64:cuda12'] ?? {})) {
    const file = path.join(libraries, name)
    mkdirSync(path.dirname(file), { recursive: true })
    if (!existsSync(file)) writeFileSync(file, '')
  }
}
