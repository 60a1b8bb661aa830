import { decoderPackage, type LockFile } from './lock-file.ts'

/** The part of package.json that the package is made from. */
export type Manifest = {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly type: string
  readonly bin: Readonly<Record<string, string>>
  readonly files: readonly string[]
  readonly publishConfig: Readonly<Record<string, unknown>>
  readonly dependencies: Readonly<Record<string, string>>
  readonly optionalDependencies: Readonly<Record<string, string>>
}

/** `@julusian/jpeg-turbo` needs 22.18. */
const engines = { node: '^22.18.0 || >=24' }

const scripts = { preinstall: 'node bin/skip-gpu-libraries.js' }

/**
 * Returns the package.json of the package: without development packages, and with the exact versions
 * of the dependencies that were tested. The package contains the JPEG decoder, because npm would
 * install the packages that compile it.
 */
export function publishedManifest(manifest: Manifest, { packages }: LockFile) {
  const { name, version, description, license, type, bin, files, publishConfig } = manifest
  const described = { name, version, description, license, type, bin, files, engines, scripts }
  const names = Object.keys(manifest.dependencies).filter(
    (dependency) => dependency !== decoderPackage,
  )
  const dependencies = names.map((dependency) => {
    const locked = packages[`node_modules/${dependency}`]?.version
    if (locked === undefined) throw new Error(`package-lock.json does not contain ${dependency}`)
    return [dependency, locked] as const
  })
  return { ...described, publishConfig, dependencies: Object.fromEntries(dependencies) }
}
