import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'

/** The versions of the runtime: Node and the native packages that run models and decode images. */
export function readRuntimeVersions(): Readonly<Record<string, string>> {
  versions ??= {
    Node: process.version,
    'ONNX Runtime': packageVersion('onnxruntime-node'),
    sharp: packageVersion('sharp'),
    'jpeg-turbo': packageVersion('@julusian/jpeg-turbo'),
  }
  return versions
}

/** The packages do not change while the process runs. */
let versions: Readonly<Record<string, string>> | undefined

/** Only the vision workers load the packages, so the version is read from their manifests. */
function packageVersion(name: string): string {
  const file = findPackageJSON(name, import.meta.url)
  if (file === undefined) return 'unknown'
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'))
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return version ? String(manifest.version) : 'unknown'
}
