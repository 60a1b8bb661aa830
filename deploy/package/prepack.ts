import { cpSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { buildConsole } from '../../web/build.ts'
import { compileService } from './compile.ts'
import { readLockFile, writeJsonFile } from './lock-file.ts'
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

const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest
const published = publishedManifest(manifest, readLockFile(path.join(rootDir, 'package-lock.json')))
// The compiled files read the version from the package.json at the same relative path as the sources.
writeJsonFile(path.join(rootDir, 'dist/package.json'), published)
cpSync(manifestFile, path.join(rootDir, savedManifest))
writeJsonFile(manifestFile, published)
