import { Page } from '../parts/page.tsx'

export function ProjectsPage() {
  return <Page title="Projects" />
}
