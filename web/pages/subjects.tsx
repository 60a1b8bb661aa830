import { Page } from '../parts/page.tsx'

export function SubjectsPage() {
  return <Page title="Subjects" />
}
