// Made by the build: see plugin.ts.
declare module "ackclock:lessons" {
  export const lessons: import("./lesson.ts").Lesson[];
}
