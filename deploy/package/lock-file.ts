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
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly optional?: boolean
  readonly engines?: unknown
  readonly hasInstallScript?: boolean
  readonly deprecated?: string
}

/**
 * Packages whose install scripts do nothing that the service needs: one downloads a library for GPUs,
 * the other compiles only on systems for which the package contains no program.
 */
const withoutInstallScript: ReadonlySet<string> = new Set([
  'node_modules/onnxruntime-node',
  'node_modules/@julusian/jpeg-turbo',
])

/**
 * Returns the lock file without two facts that npm acts on:
 *
 * - the engines of packages. npm compares them with the Node that runs npm and prints a warning for
 *   each one. The project runs on the Node of the package `node`.
 * - the install scripts of two packages. npm 10 has no setting that blocks one script.
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
  return withoutScript
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
