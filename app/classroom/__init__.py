"""A class around the learner's lab: settings, keys, the way in, the teacher's page, exports."""
