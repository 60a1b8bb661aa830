/** `npm run docs`: writes the generated pages, then builds the site of all pages. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { rootDir } from './contents.ts'
import { generatedPages } from './generated-pages.ts'
import { buildSite } from './build-site.ts'

for (const [file, text] of Object.entries(generatedPages))
  await writeFile(path.join(rootDir, file), text())
const site = path.join(rootDir, 'site')
await buildSite(site)
console.log(`The site is in ${site}: open ${path.join(site, 'index.html')}`)
