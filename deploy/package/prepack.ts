import { cpSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { buildConsole } from '../../web/build.ts'
import { compileService } from './compile.ts'
import { decoderPackage, readLockFile, writeJsonFile } from './lock-file.ts'
import { publishedManifest, type Manifest } from './manifest.ts'
import { restoreManifest, savedManifest } from './postpack.ts'

/**
 * Runs before `npm pack`: compiles the service, builds the console, and replaces package.json until
 * postpack.ts restores it.
 */
const rootDir = path.join(import.meta.dirname, '../..')
const manifestFile = path.join(rootDir, 'package.json')

restoreManifest(rootDir)
if ((await buildConsole()) === 'no build tool') throw new Error('install the development packages')
compileService(rootDir)
cpSync(path.join(rootDir, 'web/dist'), path.join(rootDir, 'dist/web/dist'), { recursive: true })
copyDecoder(path.join('node_modules', decoderPackage))

const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest
const published = publishedManifest(manifest, readLockFile(path.join(rootDir, 'package-lock.json')))
// The compiled files read the version from the package.json at the same relative path as the sources.
writeJsonFile(path.join(rootDir, 'dist/package.json'), published)
cpSync(manifestFile, path.join(rootDir, savedManifest))
writeJsonFile(manifestFile, published)

/** Copies the programs of the JPEG decoder with their version and license, without its dependencies. */
function copyDecoder(folder: string): void {
  const source = path.join(rootDir, folder)
  const target = path.join(rootDir, 'dist', folder)
  for (const entry of ['LICENSE', 'prebuilds'])
    cpSync(path.join(source, entry), path.join(target, entry), { recursive: true })
  const manifestText = readFileSync(path.join(source, 'package.json'), 'utf8')
  const { name, version, license, repository } = JSON.parse(manifestText) as Record<string, unknown>
  writeJsonFile(path.join(target, 'package.json'), { name, version, license, repository })
}
