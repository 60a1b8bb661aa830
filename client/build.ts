import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** Compiles the package twice, for `import` and for `require`. Run by `npm run build`. */
const dist = path.join(import.meta.dirname, 'dist')
rmSync(dist, { recursive: true, force: true })
for (const project of ['tsconfig.json', 'tsconfig.cjs.json'])
  execFileSync('tsc', ['--project', path.join(import.meta.dirname, project)], {
    stdio: 'inherit',
    // On Windows, npm installs the compiler as a command file.
    shell: process.platform === 'win32',
  })
// The package is of the type `module`; this folder is not.
writeFileSync(path.join(dist, 'cjs', 'package.json'), '{ "type": "commonjs" }\n')
