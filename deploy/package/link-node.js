// npm runs this after an installation in a clone, so that npm scripts run on the Node of the lock file.
// npm 10 deletes its own link: the packages for other systems, which it does not install, have the same
// one. npm on Windows writes three files instead of a link.
import { existsSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'

const modules = path.join(path.dirname(process.env.npm_package_json), 'node_modules')
const link = path.join(modules, '.bin/node')
// A dry run installs nothing.
const names = existsSync(modules) ? readdirSync(modules) : []
const installed = names.find((name) => name.startsWith('node-linux-'))
if (installed && !existsSync(link)) {
  rmSync(link, { force: true })
  symlinkSync(path.join('..', installed, 'bin/node'), link)
}
