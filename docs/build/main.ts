/** `npm run docs`: writes the generated pages, then builds the site of all pages. */
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { generatedPages } from './generated-pages.ts'
import { routesFolder } from './pages/route-pages.ts'

const rootDir = path.join(import.meta.dirname, '../..')
// The page of a route that no longer exists is deleted.
await rm(path.join(rootDir, routesFolder), { recursive: true, force: true })
for (const [file, text] of Object.entries(generatedPages)) {
  await mkdir(path.dirname(path.join(rootDir, file)), { recursive: true })
  await writeFile(path.join(rootDir, file), text())
}
// The list of the pages contains the files that exist when its module is loaded.
const { buildSite } = await import('./build-site.ts')
const site = path.join(rootDir, 'site')
await buildSite(site)
console.log(`The site is in ${site}: open ${path.join(site, 'index.html')}`)
