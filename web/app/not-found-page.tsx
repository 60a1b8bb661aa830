import { Page } from '../layout/page.tsx'

export function NotFoundPage() {
  return (
    <Page
      title="No such page"
      description="The address leads nowhere. Choose a page on the left."
    />
  )
}
