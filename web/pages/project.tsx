import { SimpleGrid } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { Project } from '../api/answers.ts'
import { useAnswer } from '../api/use-api.ts'
import { Answered } from '../parts/answered.tsx'
import { Facts } from '../parts/facts.tsx'
import { Money } from '../parts/money.tsx'
import { countOf } from '../parts/numbers.ts'
import { Page } from '../parts/page.tsx'
import { LinkButton } from '../parts/link-button.tsx'
import { Panel } from '../parts/panel.tsx'
import { Utc } from '../parts/utc.tsx'
import { GalleryMode } from '../projects/gallery-mode.tsx'
import { ProjectSettings } from '../projects/project-settings.tsx'
import { Switches } from '../projects/switches.tsx'

const route = getRouteApi('/projects/$id')

/** One project: what it is, its limits, its defaults, its switches, who shares its gallery. */
export function ProjectPage() {
  const { id } = route.useParams()
  const asked = useAnswer('/projects/:projectId', { parts: { projectId: id } })
  return (
    <Answered asked={asked}>
      {(project) => (
        <Page
          title={project.name}
          lead="What applies to every call made with a key of this project."
          actions={
            <LinkButton size="sm" variant="default" to="/projects">
              All projects
            </LinkButton>
          }
        >
          <SimpleGrid cols={{ base: 1, lg: 2 }} key={project.projectId}>
            <Panel title="Facts">
              <ProjectFacts project={project} />
            </Panel>
            <Panel title="Limits and defaults">
              <ProjectSettings project={project} />
            </Panel>
            <Panel title="Switches">
              <Switches project={project} />
            </Panel>
            <Panel title="Gallery">
              <GalleryMode project={project} />
            </Panel>
          </SimpleGrid>
        </Page>
      )}
    </Answered>
  )
}

function ProjectFacts({ project }: { readonly project: Project }) {
  return (
    <Facts
      facts={{
        Id: <span className="fg-mono">{project.projectId}</span>,
        Made: <Utc at={project.createdAtUtc} />,
        Keys: countOf(project.keyCount),
        Subjects: countOf(project.subjects),
        Templates: countOf(project.templates),
        'Budget left': <Money micros={project.budgetMicros} />,
        'Reserved now': <Money micros={project.reservedMicros} />,
      }}
    />
  )
}
