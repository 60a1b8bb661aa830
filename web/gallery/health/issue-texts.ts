import type { GalleryIssue } from '../../api/responses.ts'

type IssueText = {
  /** The name of the issue. */
  readonly name: string
  readonly meaning: string
  readonly remedy: string
}

/** What the issues of a gallery mean and what corrects them, the most urgent first. */
export const issueTexts: Readonly<Record<GalleryIssue, IssueText>> = {
  otherPerson: {
    name: 'Picture of another person',
    meaning: 'A picture does not match the other pictures of the person.',
    remedy: 'Move the picture to the person that it shows, or remove it.',
  },
  differentPeople: {
    name: 'Different people',
    meaning: 'The pictures show different people, and none of them is known to be right.',
    remedy: 'Compare the pictures and remove the wrong ones.',
  },
  duplicate: {
    name: 'Enrolled twice',
    meaning: 'Another subject is probably the same person.',
    remedy: 'Decide it on the tab Duplicates.',
  },
  harmful: {
    name: 'Harmful picture',
    meaning: 'Without a picture, fewer of the other pictures would be missed.',
    remedy: 'Remove the picture.',
  },
  lookAlike: {
    name: 'Look-alike',
    meaning: 'Another person is at most 0.05 below the threshold, or above it.',
    remedy: 'Add pictures of both, or raise the threshold of the project.',
  },
  missed: {
    name: 'Often missed',
    meaning: 'At least half of the pictures do not reach the threshold.',
    remedy: 'Add two pictures from the cameras that identify.',
  },
  oldPictures: {
    name: 'Old pictures',
    meaning: 'No picture is younger than three years.',
    remedy: 'Add a new picture.',
  },
  onePicture: {
    name: 'One picture',
    meaning: 'The person has a single picture.',
    remedy: 'Add a picture with another pose and light.',
  },
}

// The object has these keys only.
export const healthIssues = Object.keys(issueTexts) as readonly GalleryIssue[]
